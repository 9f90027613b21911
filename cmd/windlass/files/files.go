// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package files reads objects of the hub from YAML or JSON files: what people write, and what kubectl get -o yaml prints
// of an inventory. A field that is not known is an error in what people write; in what the hub writes it is passed over,
// so that an inventory of a newer hub can be read.
package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Objects are the objects of the hub that files hold.
type Objects struct {
	Policies  []*fleetv1.RolloutPolicy
	Members   []*fleetv1.ManagementCluster
	Clusters  []*fleetv1.WorkloadCluster
	Calendars []*fleetv1.MaintenanceCalendar
	Freezes   []*fleetv1.Freeze
	Approvals []*fleetv1.Approval
}

// Read reads files, and the .yaml, .yml and .json files of folders in the order of their names. The error tells of every
// document that cannot be read, each with its file and place.
func Read(paths ...string) (*Objects, error) {
	all := &Objects{}
	var errs []error
	for _, path := range paths {
		names, err := expand(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, name := range names {
			errs = append(errs, all.readFile(name))
		}
	}
	return all, errors.Join(errs...)
}

// Under puts objects under those that are there already: of two with one name the one that is there stays.
func (o *Objects) Under(below *Objects) {
	o.Policies = under(o.Policies, below.Policies)
	o.Members = under(o.Members, below.Members)
	o.Clusters = under(o.Clusters, below.Clusters)
	o.Calendars = under(o.Calendars, below.Calendars)
	o.Freezes = under(o.Freezes, below.Freezes)
	o.Approvals = under(o.Approvals, below.Approvals)
}

func under[T metav1.Object](above, below []T) []T {
	there := map[string]bool{}
	for _, object := range above {
		there[object.GetNamespace()+"/"+object.GetName()] = true
	}
	for _, object := range below {
		if !there[object.GetNamespace()+"/"+object.GetName()] {
			above = append(above, object)
		}
	}
	return above
}

// expand is a file itself, or the manifests of a folder.
func expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	var names []string
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) {
			names = append(names, name)
		}
		return err
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s: holds no .yaml, .yml or .json file", path)
	}
	return names, err
}

func (o *Objects) readFile(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var errs []error
	found := 0
	for n := 1; ; n++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s, document %d: %w", name, n, err)
		}
		object, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s, document %d: %w", name, n, err))
			continue
		}
		if string(object) == "null" {
			continue // comments alone
		}
		found++
		errs = append(errs, o.add(fmt.Sprintf("%s, document %d", name, n), object))
	}
	if found == 0 {
		errs = append(errs, fmt.Errorf("%s: is empty; accepted: manifests such as those that kubectl get -o yaml prints", name))
	}
	return errors.Join(errs...)
}

// header is what tells a document's kind.
type header struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Items             []runtime.RawExtension `json:"items"`
}

// add reads one document; a list is read item by item.
func (o *Objects) add(place string, data []byte) error {
	var h header
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &h); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	if strings.HasSuffix(h.Kind, "List") {
		var errs []error
		for i, item := range h.Items {
			errs = append(errs, o.add(fmt.Sprintf("%s, items[%d]", place, i), item.Raw))
		}
		return errors.Join(errs...)
	}
	if h.Kind == "" {
		return fmt.Errorf("%s: has no kind; accepted: one of %s", place, kinds)
	}
	place = fmt.Sprintf("%s, %s %s", place, h.Kind, h.Name)
	if h.APIVersion != fleetv1.GroupVersion.String() {
		return fmt.Errorf("%s: apiVersion %q is not known; accepted: %s", place, h.APIVersion, fleetv1.GroupVersion)
	}
	switch h.Kind {
	case "RolloutPolicy":
		return take(&o.Policies, &fleetv1.RolloutPolicy{}, place, data)
	case "ManagementCluster":
		return take(&o.Members, &fleetv1.ManagementCluster{}, place, data)
	case "WorkloadCluster":
		return take(&o.Clusters, &fleetv1.WorkloadCluster{}, place, data)
	case "MaintenanceCalendar":
		return take(&o.Calendars, &fleetv1.MaintenanceCalendar{}, place, data)
	case "Freeze":
		return take(&o.Freezes, &fleetv1.Freeze{}, place, data)
	case "Approval":
		return take(&o.Approvals, &fleetv1.Approval{}, place, data)
	case "Rollout", "ClusterUpgrade":
		return nil // what the hub has begun is not what a file is read for
	}
	return fmt.Errorf("%s: kind %q is not known; accepted: one of %s", place, h.Kind, kinds)
}

const kinds = "RolloutPolicy, ManagementCluster, WorkloadCluster, MaintenanceCalendar, Freeze, Approval, and lists of them"

// take reads one object. A spec that people write tells by itself which of its fields are unknown.
func take[T any](into *[]*T, object *T, place string, data []byte) error {
	misspelt, err := kjson.UnmarshalStrict(data, object, kjson.DisallowUnknownFields)
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	var errs []error
	for _, path := range unknown(object) {
		errs = append(errs, fmt.Errorf("%s: %s", place, explain(object, path)))
	}
	for _, one := range misspelt {
		var field kjson.FieldError
		switch {
		case !errors.As(one, &field):
			errs = append(errs, fmt.Errorf("%s: %w", place, one)) // a name that stands there twice
		case !strings.HasPrefix(field.FieldPath(), "status."):
			errs = append(errs, fmt.Errorf("%s: %s", place, explain(object, field.FieldPath())))
		}
	}
	if errs != nil {
		return errors.Join(errs...)
	}
	*into = append(*into, object)
	return nil
}

// unknown are the paths of the fields of a spec that people write that are not known.
func unknown(object any) []string {
	switch o := object.(type) {
	case *fleetv1.RolloutPolicy:
		return o.Spec.Unknown
	case *fleetv1.ManagementCluster:
		return o.Spec.Unknown
	case *fleetv1.MaintenanceCalendar:
		return o.Spec.Unknown
	case *fleetv1.Freeze:
		return o.Spec.Unknown
	case *fleetv1.Approval:
		return o.Spec.Unknown
	}
	return nil
}
