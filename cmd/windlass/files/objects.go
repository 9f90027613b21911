// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package files

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/windlass-dev/windlass/cmd/windlass/admit"
	"github.com/windlass-dev/windlass/cmd/windlass/spelling"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

const kinds = "RolloutPolicy, ManagementCluster, WorkloadCluster, MaintenanceCalendar, Freeze, Approval, and lists of them"

// add reads one document; a list is read item by item.
func (r *reading) add(place string, document any) error {
	values, is := document.(map[string]any)
	if !is {
		return fmt.Errorf("%s: is no manifest; accepted: apiVersion, kind, metadata: {name: …} and spec", place)
	}
	o := unstructured.Unstructured{Object: values}
	kind := o.GetKind()
	if items, is := values["items"].([]any); is && strings.HasSuffix(kind, "List") {
		var errs []error
		for i, item := range items {
			errs = append(errs, r.add(fmt.Sprintf("%s, items[%d]", place, i), item))
		}
		return errors.Join(errs...)
	}
	if kind == "" {
		return fmt.Errorf("%s: has no kind; accepted: one of %s", place, kinds)
	}
	object := fmt.Sprintf("%s, %s %s", place, kind, cmp.Or(o.GetName(), "without a name"))
	if o.GetAPIVersion() != fleetv1.GroupVersion.String() {
		return fmt.Errorf("%s: apiVersion %q is not known; accepted: %s", object, o.GetAPIVersion(), fleetv1.GroupVersion)
	}
	key := kind + " " + o.GetNamespace() + "/" + o.GetName()
	if before, twice := r.seen[key]; twice && o.GetName() != "" {
		return fmt.Errorf("%s: stands in %s, too; accepted: each object once", object, before)
	}
	r.seen[key] = place
	return r.take(kind, object, values)
}

func (r *reading) take(kind, place string, values map[string]any) error {
	switch kind {
	case "RolloutPolicy":
		return written(&r.Policies, func(o *fleetv1.RolloutPolicy) []string { return o.Spec.Unknown }, place, values)
	case "ManagementCluster":
		return written(&r.Members, func(o *fleetv1.ManagementCluster) []string { return o.Spec.Unknown }, place, values)
	case "MaintenanceCalendar":
		return written(&r.Calendars, func(o *fleetv1.MaintenanceCalendar) []string { return o.Spec.Unknown }, place, values)
	case "Freeze":
		return written(&r.Freezes, func(o *fleetv1.Freeze) []string { return o.Spec.Unknown }, place, values)
	case "Approval":
		return written(&r.Approvals, func(o *fleetv1.Approval) []string { return o.Spec.Unknown }, place, values)
	case "WorkloadCluster":
		return decoded(&r.Clusters, func(*fleetv1.WorkloadCluster) []string { return nil }, place, values)
	case "Rollout", "ClusterUpgrade":
		return nil // what the hub has begun is not what a file is read for
	}
	return fmt.Errorf("%s: kind %q is not known; accepted: one of %s", place, kind, kinds)
}

// written reads an object of a kind that people write: with the defaults that the API server sets, and only if it would be
// created. A spec of such a kind tells by itself which of its fields are unknown.
func written[T any](into *[]*T, unknown func(*T) []string, place string, values map[string]any) error {
	refused, err := admit.Create(values)
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	if len(refused) == 0 {
		return decoded(into, unknown, place, values)
	}
	misspelt, _ := decode(new(T), unknown, values) // why it cannot be read is among what is refused
	return told(place, append(misspelt, texts(values, refused)...))
}

// decoded reads an object as it is.
func decoded[T any](into *[]*T, unknown func(*T) []string, place string, values map[string]any) error {
	object := new(T)
	wrong, err := decode(object, unknown, values)
	if err != nil {
		shape, _ := admit.Shape(values)
		if wrong = append(wrong, texts(values, shape)...); len(wrong) == 0 {
			wrong = []string{"cannot be read: " + err.Error()}
		}
	}
	if len(wrong) > 0 {
		return told(place, wrong)
	}
	*into = append(*into, object)
	return nil
}

// decode fills an object and tells which fields it does not have. The error says that a value cannot be read.
func decode[T any](object *T, unknown func(*T) []string, values map[string]any) (misspelt []string, err error) {
	data, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	strange, err := kjson.UnmarshalStrict(data, object, kjson.DisallowUnknownFields)
	for _, path := range unknown(object) {
		if why, is := strings.CutPrefix(path, fleetv1.UnreadablePrefix); is {
			err = errors.Join(err, errors.New(why))
			continue
		}
		misspelt = append(misspelt, spelling.Field(object, path))
	}
	for _, one := range strange {
		var field kjson.FieldError
		if errors.As(one, &field) && !strings.HasPrefix(field.FieldPath(), "status.") {
			misspelt = append(misspelt, spelling.Field(object, field.FieldPath()))
		}
	}
	return misspelt, err
}

func texts(values map[string]any, refused field.ErrorList) (all []string) {
	for _, e := range refused {
		all = append(all, admit.Text(values, e))
	}
	return all
}

func told(place string, texts []string) error {
	var errs []error
	for _, text := range texts {
		errs = append(errs, fmt.Errorf("%s: %s", place, text))
	}
	return errors.Join(errs...)
}
