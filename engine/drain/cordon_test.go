// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package drain_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/drain"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// state is what matters of a Node.
type state struct {
	Unschedulable bool
	By            string
}

func (p *place) state() state {
	n := p.read()
	return state{n.Spec.Unschedulable, n.Annotations[protocol.CordonedKey]}
}

func (p *place) set(s state) {
	p.t.Helper()
	n := p.read()
	before := n.DeepCopy()
	n.Spec.Unschedulable = s.Unschedulable
	if s.By != "" {
		n.Annotations = map[string]string{protocol.CordonedKey: s.By, "somebody.else/key": "v"}
	}
	if err := workload.Client.Patch(p.t.Context(), n, client.MergeFrom(before)); err != nil {
		p.t.Fatal(err)
	}
}

func TestACordonIsTakenAndGivenBackByWhoMadeIt(t *testing.T) {
	for name, c := range map[string]struct{ before, drained, uncordoned state }{
		"nobody's":                   {state{}, state{true, by}, state{}},
		"a person's":                 {state{true, ""}, state{true, ""}, state{true, ""}},
		"ours already":               {state{true, by}, state{true, by}, state{}},
		"another machine's":          {state{true, "uid-other"}, state{true, "uid-other"}, state{true, "uid-other"}},
		"lifted by a person since":   {state{false, by}, state{true, by}, state{}},
		"another's, lifted long ago": {state{false, "uid-other"}, state{true, by}, state{}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, "cordon-"+string(uuidOf(name)))
			p.set(c.before)
			client := drainer()
			p.drained(client)
			same(t, "drained", c.drained, p.state())
			cordoned, err := client.Cordoned(t.Context(), p.node.Cluster, p.node.NodeName)
			if err != nil || cordoned != c.drained.Unschedulable {
				t.Errorf("Cordoned: %t, %v", cordoned, err)
			}
			version := p.read().ResourceVersion
			p.drained(client)
			same(t, "resourceVersion after a second look", version, p.read().ResourceVersion)
			for range 2 {
				if err := client.Uncordon(t.Context(), p.node, by); err != nil {
					t.Fatal(err)
				}
				same(t, "uncordoned", c.uncordoned, p.state())
			}
			if c.before.By != "" {
				same(t, "somebody else's annotation", "v", p.read().Annotations["somebody.else/key"])
			}
		})
	}
}

func TestWhatAPersonDoesToANodeBetweenALookAndAWriteStands(t *testing.T) {
	p := newPlace(t, "cordon-meanwhile")
	meanwhile := func() {}
	c := drainer(func(o *drain.Options) {
		o.MayWrite = func() error { // asked between the two
			now := meanwhile
			meanwhile = func() {}
			now()
			return nil
		}
	})
	meanwhile = func() { p.set(state{true, ""}) }
	p.drained(c)
	same(t, "a person's cordon", state{true, ""}, p.state())

	p.set(state{true, by})
	meanwhile = func() {
		n := p.read()
		before := n.DeepCopy()
		n.Annotations = nil
		if err := workload.Client.Patch(t.Context(), n, client.MergeFrom(before)); err != nil {
			t.Error(err)
		}
	}
	if err := c.Uncordon(t.Context(), p.node, by); err != nil {
		t.Fatal(err)
	}
	same(t, "ours, which a person has made a person's", state{true, ""}, p.state())
}

// uuidOf makes a name of words one that an object may have.
func uuidOf(words string) []byte {
	var name []byte
	for i := range len(words) {
		if c := words[i]; c >= 'a' && c <= 'z' {
			name = append(name, c)
		}
	}
	return name
}

func TestANodeThatIsGoneNeedsNoUncordoning(t *testing.T) {
	node := k8sd.Node{Cluster: types.NamespacedName{Namespace: "shop", Name: "eu"}, NodeName: "never-was"}
	if err := drainer().Uncordon(t.Context(), node, by); err != nil {
		t.Error(err)
	}
}

func TestAConflictOnANodeIsReadAgainAndNotForEver(t *testing.T) {
	for name, c := range map[string]struct {
		conflicts, patches int
		fails              bool
	}{
		"once":   {conflicts: 1, patches: 2},
		"always": {conflicts: 99, patches: 3, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			node := &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{protocol.CordonedKey: by}},
				Spec:       corev1.NodeSpec{Unschedulable: true},
			}
			workload := kubefake.NewClientset(node)
			patches := 0
			workload.PrependReactor("patch", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
				patches++
				if patches > c.conflicts {
					return false, nil, nil
				}
				return true, nil, apierrors.NewConflict(corev1.Resource("nodes"), "n", nil)
			})
			client := drainer(func(o *drain.Options) {
				o.Connect = func(context.Context, types.NamespacedName) (kubernetes.Interface, error) { return workload, nil }
			})
			err := client.Uncordon(t.Context(), k8sd.Node{NodeName: "n"}, by)
			if (err != nil) != c.fails {
				t.Errorf("Uncordon: %v", err)
			}
			same(t, "patches", c.patches, patches)
		})
	}
}
