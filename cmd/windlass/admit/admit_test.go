// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package admit_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/windlass-dev/windlass/cmd/windlass/admit"
)

// object is one of the hub's kinds; its spec is least, changed at the top.
func object(t *testing.T, kind, name, least, change string) map[string]any {
	t.Helper()
	parse := func(text string) map[string]any {
		data, err := yaml.YAMLToJSONStrict([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		m := map[string]any{}
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	o := parse(fmt.Sprintf("{apiVersion: fleet.windlass.dev/v1alpha1, kind: %s, metadata: {name: %q}}", kind, name))
	spec := parse(least)
	maps.Copy(spec, parse(change))
	o["spec"] = spec
	return o
}

const (
	policy = `{target: {channel: 1.33-classic/stable}, clusters: {all: true}, canaries: {none: true},
  waves: [{name: rest, rest: true}], anyTime: true}`
	member   = `{kubeconfigSecretRef: {name: mgmt-a}}`
	calendar = `{windows: [{schedule: 0 2 * * 6, duration: 4h}]}`
)

func TestWhatAnAPIServerWouldRefuseIsRefusedInItsWords(t *testing.T) {
	for name, tc := range map[string]struct {
		kind, name, least, change string
		want                      []string
	}{
		"nothing is wrong": {"RolloutPolicy", "p", policy, `{}`, nil},
		"a value of no type": {"RolloutPolicy", "p", policy, `{paused: sometimes}`, []string{`spec.paused: Invalid value: "string": spec.paused in body must be of type boolean: "string"; ` +
			`paused is Git's own brake: a paused policy plans and starts nothing`}},
		"a required field":     {"ManagementCluster", "m", `{}`, `{}`, []string{"spec.kubeconfigSecretRef: Required value"}},
		"no word of a list":    {"ManagementCluster", "m", member, `{engine: Robot}`, []string{`spec.engine: Unsupported value: "Robot": supported values: "Agent", "Hub", "Provider"`}},
		"a rule":               {"RolloutPolicy", "p", policy, `{historyLimit: 5}`, []string{"spec.historyLimit: Forbidden: spec.historyLimit is not supported yet; accepted: leave it out"}},
		"a rule of two fields": {"RolloutPolicy", "p", policy, `{calendars: [nights]}`, []string{"spec.calendars: Forbidden: spec.calendars: contradicts anyTime; accepted: one of them"}},
		"a null that stands for nothing": {
			"RolloutPolicy", "p", policy, `{canaries: {none: null}}`,
			[]string{"spec.canaries: Invalid value: canaries: exactly one of names, selector and none is needed; " +
				"accepted: names: [mgmt-a/shop/eu-1], or none: true"},
		},
		"a name that is too long": {"ManagementCluster", "mgmt.eu", member, `{}`, []string{"metadata: Invalid value: metadata.name: must be a DNS label of at most 40 characters; accepted: mgmt-eu-1"}},
		"two waves of one name":   {"RolloutPolicy", "p", policy, `{waves: [{name: a, percent: 5}, {name: a, rest: true}]}`, []string{`spec.waves[1]: Duplicate value: {"name":"a"}`}},
		"a calendar's duration": {
			"MaintenanceCalendar", "c", calendar, `{windows: [{schedule: 0 2 * * 6, duration: 4 h}]}`, []string{`spec.windows[0].duration: Invalid value: "4 h": windows[].duration: must be a duration of 15m to 744h; accepted: 4h, 90m`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := object(t, tc.kind, tc.name, tc.least, tc.change)
			errs, err := admit.Create(o)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range errs {
				got = append(got, admit.Text(o, e))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefaultsAreThoseOfTheAPIServer(t *testing.T) {
	o := object(t, "ManagementCluster", "m", member, `{}`)
	if errs, err := admit.Create(o); err != nil || len(errs) > 0 {
		t.Fatalf("%v %v", errs, err)
	}
	want := map[string]any{"kubeconfigSecretRef": map[string]any{"name": "mgmt-a"}, "access": "ReadOnly", "engine": "Provider"}
	if diff := cmp.Diff(want, o["spec"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAStatusIsLookedAtForItsShapeAlone(t *testing.T) {
	o := object(t, "ManagementCluster", "m", member, `{}`)
	o["status"] = map[string]any{"observedGeneration": "three", "news": int64(1)}
	if errs, err := admit.Create(o); err != nil || len(errs) > 0 {
		t.Errorf("%v %v", errs, err)
	}
	errs, err := admit.Shape(o)
	if err != nil || len(errs) != 1 || errs[0].Field != "status.observedGeneration" || errs[0].Type != field.ErrorTypeTypeInvalid {
		t.Errorf("%v %v", errs, err)
	}
}

func TestAKindOfSomebodyElseIsAnError(t *testing.T) {
	if _, err := admit.Create(map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}); err == nil {
		t.Error("it is taken for one of the hub's")
	}
}
