// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

func TestAPolicyRemembersTheFieldsThatItDoesNotKnow(t *testing.T) {
	cases := map[string]struct {
		spec string
		want []string
	}{
		"none":                          {`{"paused":true}`, nil},
		"at the top":                    {`{"puased":true}`, []string{"spec.puased"}},
		"of another case":               {`{"Paused":true}`, []string{"spec.Paused"}},
		"within":                        {`{"clusters":{"selectr":{}}}`, []string{"spec.clusters.selectr"}},
		"within a selector":             {`{"clusters":{"selector":{"matchLabel":{}}}}`, []string{"spec.clusters.selector.matchLabel"}},
		"a label that is called so":     {`{"clusters":{"selector":{"matchLabels":{"puased":"x"}}}}`, nil},
		"within a requirement":          {`{"canaries":{"selector":{"matchExpressions":[{"key":"a","valus":[]}]}}}`, []string{"spec.canaries.selector.matchExpressions[0].valus"}},
		"within the second of a list":   {`{"waves":[{"name":"a"},{"precent":1}]}`, []string{"spec.waves[1].precent"}},
		"several":                       {`{"puased":true,"upgrade":{"oder":"x"}}`, []string{"spec.puased", "spec.upgrade.oder"}},
		"of what is not supported yet":  {`{"catchUp":{"utnil":"1h"}}`, []string{"spec.catchUp.utnil"}},
		"beside values that are no map": {`{"waves":[{"maxConcurrency":"10%"}],"upgrade":{"machine":{"timeout":"1h"}}}`, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var p fleetv1.RolloutPolicy
			read(t, `{"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"RolloutPolicy","spec":`+c.spec+`}`, &p)
			if diff := cmp.Diff(c.want, p.Spec.Unknown); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAManagementClusterRemembersTheFieldsThatItDoesNotKnow(t *testing.T) {
	var mc fleetv1.ManagementCluster
	read(t, `{"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"ManagementCluster","spec":{
		"kubeconfigSecretRef":{"nam":"a"},"namspaces":["shop"],"policiesFrom":{"frm":"Same"},"engine":"Hub"}}`, &mc)
	want := []string{"spec.kubeconfigSecretRef.nam", "spec.namspaces", "spec.policiesFrom.frm"}
	if diff := cmp.Diff(want, mc.Spec.Unknown); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if mc.Spec.Engine != fleetv1.EngineHub {
		t.Errorf("engine %q", mc.Spec.Engine)
	}
}

func TestActsAndCalendarsRememberTheFieldsThatTheyDoNotKnow(t *testing.T) {
	var calendar fleetv1.MaintenanceCalendar
	read(t, `{"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"MaintenanceCalendar","spec":{
		"timezone":"UTC","windows":[{"schedule":"0 2 * * 6","duration":"4h"},{"shedule":"0 2 * * 0"}],"exclusion":[]}}`, &calendar)
	var freeze fleetv1.Freeze
	read(t, `{"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"Freeze","spec":{
		"scope":{"polices":["k8s-1-33"]},"untl":"2027-01-07T06:00:00Z","from":"2026-12-18T16:00:00Z"}}`, &freeze)
	var approval fleetv1.Approval
	read(t, `{"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"Approval","spec":{
		"rollout":"ro","expires":"2027-01-07T06:00:00Z"}}`, &approval)
	got := map[string][]string{
		calendar.Spec.WhyUnknown(): calendar.Spec.Unknown, freeze.Spec.WhyUnknown(): freeze.Spec.Unknown,
		approval.Spec.WhyUnknown(): approval.Spec.Unknown,
	}
	want := map[string][]string{
		"unknown field spec.timezone, spec.windows[1].shedule, spec.exclusion; accepted: what kubectl explain " +
			"maintenancecalendar.spec lists": {"spec.timezone", "spec.windows[1].shedule", "spec.exclusion"},
		"unknown field spec.scope.polices, spec.untl; accepted: what kubectl explain freeze.spec.scope lists": {
			"spec.scope.polices", "spec.untl",
		},
		"unknown field spec.expires; accepted: what kubectl explain approval.spec lists": {"spec.expires"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if calendar.Spec.Windows[0].Duration.Duration != 4*time.Hour || freeze.Spec.From.IsZero() || approval.Spec.Rollout != "ro" {
		t.Errorf("what is known was not read: %+v, %+v, %+v", calendar.Spec, freeze.Spec, approval.Spec)
	}
}

// read decodes an object as a client does.
func read(t *testing.T, text string, into runtime.Object) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleetv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme).UniversalDeserializer()
	if _, _, err := decoder.Decode([]byte(text), nil, into); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsUnknownIsForgottenWhenItIsReadAgain(t *testing.T) {
	s := fleetv1.RolloutPolicySpec{}
	for text, want := range map[string]int{`{"puased":true}`: 1, `{"paused":true}`: 0} {
		if err := json.Unmarshal([]byte(text), &s); err != nil || len(s.Unknown) != want {
			t.Errorf("%s: %v, %v", text, s.Unknown, err)
		}
	}
}

func TestWhatCannotBeReadIsSaidOfTheObjectThatHasIt(t *testing.T) {
	var s fleetv1.ManagementClusterSpec
	if err := json.Unmarshal([]byte(`{"engine":7}`), &s); err != nil || !strings.Contains(s.WhyUnknown(), "cannot be read") {
		t.Errorf("a number was taken for an engine: %q, %v", s.WhyUnknown(), err)
	}
}

func TestTheMessageNamesTheFieldsAndWhereTheAcceptedOnesAreListed(t *testing.T) {
	spec := fleetv1.RolloutPolicySpec{}
	if got := spec.WhyUnknown(); got != "" {
		t.Errorf("nothing is unknown: %q", got)
	}
	spec.Unknown = []string{"spec.waves[2].selector.matchLabel", "spec.a", "spec.b", "spec.c", "spec.d", "spec.e"}
	want := "unknown field spec.waves[2].selector.matchLabel, spec.a, spec.b, spec.c, spec.d; accepted: what kubectl " +
		"explain rolloutpolicy.spec.waves.selector lists; and 1 more"
	if diff := cmp.Diff(want, spec.WhyUnknown()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	mc := fleetv1.ManagementClusterSpec{Unknown: []string{"spec.namspaces"}}
	want = "unknown field spec.namspaces; accepted: what kubectl explain managementcluster.spec lists"
	if diff := cmp.Diff(want, mc.WhyUnknown()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestC024AStoredValueThatCannotBeReadKeepsNoOtherObjectFromBeingListed: one object would otherwise break every list.
func TestC024AStoredValueThatCannotBeReadKeepsNoOtherObjectFromBeingListed(t *testing.T) {
	var list fleetv1.RolloutPolicyList
	read(t, `{"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"RolloutPolicyList","items":[
		{"metadata":{"name":"bad"},"spec":{"upgrade":{"machine":{"timeout":"soon"}},"paused":true}},
		{"metadata":{"name":"worse"},"spec":{"waves":"all"}},
		{"metadata":{"name":"good"},"spec":{"paused":true}}]}`, &list)
	if len(list.Items) != 3 || !list.Items[2].Spec.Paused || list.Items[2].Spec.WhyUnknown() != "" {
		t.Fatalf("%d items", len(list.Items))
	}
	for i, says := range []string{"soon", "waves"} {
		if why := list.Items[i].Spec.WhyUnknown(); !strings.Contains(why, says) || !strings.Contains(why, "accepted") {
			t.Errorf("%s: %q does not say %q", list.Items[i].Name, why, says)
		}
	}
}
