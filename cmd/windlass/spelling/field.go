// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package spelling

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

var index = regexp.MustCompile(`\[[0-9]+\]$`)

// Field says what is wrong with a field that an object does not have: its path, the name that was meant perhaps, and the
// names that stand in its place.
func Field(object any, path string) string {
	parent, name := reflect.TypeOf(object), path
	if dot := strings.LastIndex(path, "."); dot >= 0 {
		name = path[dot+1:]
		for step := range strings.SplitSeq(path[:dot], ".") {
			parent = child(parent, step)
		}
	}
	text, accepted := "unknown field "+path+";", slices.Sorted(maps.Keys(fields(parent)))
	if nearest := Nearest(name, accepted); nearest != "" {
		text += fmt.Sprintf(" did you mean %s?", nearest)
	}
	return text + " accepted: " + strings.Join(accepted, ", ")
}

// child is the type of a field, "waves[1]" of an item of it; nil: there is none.
func child(parent reflect.Type, step string) reflect.Type {
	field := fields(parent)[index.ReplaceAllString(step, "")]
	for strings.HasSuffix(step, "]") && field != nil {
		field, step = bare(field), index.ReplaceAllString(step, "")
		if field.Kind() == reflect.Slice {
			field = field.Elem()
		}
	}
	return field
}

// fields are those of a struct by their JSON names, those of embedded structs included.
func fields(t reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	if t = bare(t); t == nil || t.Kind() != reflect.Struct {
		return all
	}
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case name == "" && (field.Anonymous || strings.Contains(options, "inline")):
			maps.Copy(all, fields(field.Type))
		case name != "":
			all[name] = field.Type
		}
	}
	return all
}

func bare(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// Nearest is the accepted name that is at most three letters away, and fewer than half of them; empty: none is.
func Nearest(name string, accepted []string) string {
	best, least := "", min(3, len(name)/2)+1
	for _, one := range accepted {
		if d := Distance(strings.ToLower(name), strings.ToLower(one)); d < least {
			best, least = one, d
		}
	}
	return best
}
