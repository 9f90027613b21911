// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-dev/windlass/policy/window"
)

const page = "../../docs/calendars.md"

var (
	caseRow   = regexp.MustCompile(`(?m)^\| (C\d{3}) \| (.+) \|$`)
	namedTest = regexp.MustCompile("`(\\w+)(?:/(C\\d{3}))?`")
	caseID    = regexp.MustCompile(`C\d{3}[:_]`)
)

// TestEveryCaseIsOnThePageWithTestsThatExist holds the table of docs/calendars.md to the tests, both ways.
func TestEveryCaseIsOnThePageWithTestsThatExist(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	tests := testFiles(t)
	rows := map[string]bool{}
	for _, row := range caseRow.FindAllStringSubmatch(string(text), -1) {
		rows[row[1]] = true
		named := namedTest.FindAllStringSubmatch(row[2], -1)
		if len(named) == 0 {
			t.Errorf("%s names no test", row[1])
		}
		for _, test := range named {
			if !strings.Contains(tests, "func "+test[1]+"(") || test[2] != "" && !strings.Contains(tests, `"`+test[2]+": ") {
				t.Errorf("%s names %s, which there is not", row[1], test[0])
			}
		}
	}
	for _, id := range caseID.FindAllString(tests, -1) {
		if !rows[id[:4]] {
			t.Errorf("%s has tests and no row", id[:4])
		}
	}
}

// TestThePageSaysWhatIsRefused: each expression in the page's table of refusals is.
func TestThePageSaysWhatIsRefused(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| refused | because | write |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var expressions []string
	for _, row := range strings.Split(table, "\n")[1:] {
		for _, quoted := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
			expressions = append(expressions, quoted[1])
		}
	}
	if !slices.Contains(expressions, "sat-sun") {
		t.Fatalf("the table was not found: %q", expressions)
	}
	for _, expression := range expressions {
		if strings.ContainsAny(expression, " @") {
			if len(refusal(t, in("UTC", cron(expression, hour)))) != 1 {
				t.Errorf("%s has several problems", expression)
			}
			continue
		}
		// An item of a field: at least one of the fields does not take it.
		if !slices.ContainsFunc([]int{0, 1, 2, 3, 4}, func(field int) bool {
			fields := []string{"0", "2", "*", "*", "*"}
			fields[field] = expression
			_, _, err := window.Compile(in("UTC", cron(strings.Join(fields, " "), hour)))
			return err != nil
		}) {
			t.Errorf("%s is accepted in every field", expression)
		}
	}
}

func testFiles(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
