// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/fleet/member"
)

func to(s *server, hash string) member.Connection {
	return member.Connection{Config: s.config(), Hash: hash}
}

func TestConnectEngagesAMember(t *testing.T) {
	p, e := started(t, member.Options{})
	s := serve(t, func(s *server) { s.clusters = []string{"eu-1", "eu-2"} })
	if h := p.Health("fleet/a"); h.State != member.Connecting {
		t.Errorf("before: %+v", h)
	}
	for range 2 {
		if err := p.Connect(t.Context(), "fleet/a", to(s, "1")); err != nil {
			t.Fatal(err)
		}
	}
	if len(e.all) != 1 || e.all[0].name != "fleet/a" || e.all[0].life.Err() != nil {
		t.Errorf("engaged: %+v", e.all)
	}
	m, found := p.Member("fleet/a")
	if !found || m.Kinds.Cluster.Version != "v1beta2" || len(m.Kinds.ControlPlanes) != 0 {
		t.Errorf("member %+v", m)
	}
	list := capi.List(m.Kinds.Cluster)
	if err := m.Cluster.GetClient().List(t.Context(), list); err != nil || len(list.Items) != 2 {
		t.Errorf("its cache holds %d clusters, %v", len(list.Items), err)
	}
	want := member.Health{State: member.Ready, LastAnswer: now, ServerVersion: "v1.33.1"}
	if h := p.Health("fleet/a"); h.State != want.State || h.LastAnswer != want.LastAnswer ||
		h.ServerVersion != want.ServerVersion || h.Failures != 0 {
		t.Errorf("health %+v", h)
	}
	if cl, err := p.Get(t.Context(), "fleet/a"); err != nil || cl != m.Cluster {
		t.Errorf("got %v, %v", cl, err)
	}
}

// TestAMuteMemberBlocksNoOther: it accepts connections and never answers, as behind a firewall.
func TestAMuteMemberBlocksNoOther(t *testing.T) {
	p, _ := started(t, member.Options{})
	address, connected := silent(t)
	ctx, giveUp := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		result <- p.Connect(ctx, "fleet/mute", member.Connection{Config: &rest.Config{Host: address}, Hash: "1"})
	}()
	<-connected
	if err := p.Connect(t.Context(), "fleet/a", to(serve(t, nil), "1")); err != nil {
		t.Errorf("the other one: %v", err)
	}
	if h := p.Probe(t.Context(), "fleet/a"); h.State != member.Ready {
		t.Errorf("the other one: %+v", h)
	}
	select {
	case err := <-result:
		t.Errorf("the mute one did not keep on waiting: %v", err)
	default:
	}
	giveUp()
	if err := <-result; err == nil {
		t.Error("the mute one is connected")
	}
	if _, found := p.Member("fleet/mute"); found || p.Health("fleet/mute").State != member.Unreachable {
		t.Errorf("the mute one is engaged: %t, %+v", found, p.Health("fleet/mute"))
	}
}

// TestConnectIsBounded by its own timeouts, whatever does not answer.
func TestConnectIsBounded(t *testing.T) {
	const short = 200 * time.Millisecond
	t.Run("nothing is answered", func(t *testing.T) {
		p, _ := started(t, member.Options{ProbeTimeout: short})
		address, _ := silent(t)
		c := member.Connection{Config: &rest.Config{Host: address}, Hash: "1"}
		if err := p.Connect(t.Context(), "fleet/a", c); err == nil {
			t.Error("it is connected")
		}
	})
	t.Run("lists are not answered", func(t *testing.T) {
		p, e := started(t, member.Options{ConnectTimeout: 5 * time.Second})
		s := serve(t, func(s *server) { s.mute = true })
		err := p.Connect(t.Context(), "fleet/a", to(s, "1"))
		if err == nil || !strings.Contains(err.Error(), "have not synced within 5s") || len(e.all) != 0 {
			t.Errorf("it gave %v", err)
		}
	})
}

func TestHealthSaysWhatIsWrong(t *testing.T) {
	cases := map[string]struct {
		change func(*server)
		want   member.State
	}{
		"it refuses the credential":     {func(s *server) { s.status = http.StatusUnauthorized }, member.Unauthorized},
		"it forbids to ask":             {func(s *server) { s.status = http.StatusForbidden }, member.Unauthorized},
		"it is not well":                {func(s *server) { s.status = http.StatusServiceUnavailable }, member.Unreachable},
		"it does not serve Cluster API": {func(s *server) { s.withoutAPI = true }, member.APIMissing},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, e := started(t, member.Options{})
			s := serve(t, c.change)
			for n := range 2 {
				err := p.Connect(t.Context(), "fleet/a", to(s, "1"))
				h := p.Health("fleet/a")
				if err == nil || h.State != c.want || h.Message != err.Error() || h.Failures != n+1 || len(e.all) != 0 {
					t.Errorf("%v, %+v", err, h)
				}
			}
		})
	}
}

func TestAProbeTellsThatAMemberIsGoneAndBack(t *testing.T) {
	p, _ := started(t, member.Options{})
	s := serve(t, nil)
	if err := p.Connect(t.Context(), "fleet/a", to(s, "1")); err != nil {
		t.Fatal(err)
	}
	s.gone.Store(true)
	for n := range 2 {
		h := p.Probe(t.Context(), "fleet/a")
		if h.State != member.Unreachable || h.Failures != n+1 || h.LastAnswer != now || h.Message == "" {
			t.Errorf("gone: %+v", h)
		}
	}
	if _, found := p.Member("fleet/a"); !found {
		t.Error("a member that is silent is forgotten")
	}
	s.gone.Store(false)
	if h := p.Probe(t.Context(), "fleet/a"); h.State != member.Ready || h.Failures != 0 || h.Message != "" {
		t.Errorf("back: %+v", h)
	}
}

// TestANewCredentialReplacesTheOldWhenItWorks and not before.
func TestANewCredentialReplacesTheOldWhenItWorks(t *testing.T) {
	p, e := started(t, member.Options{})
	if err := p.Connect(t.Context(), "fleet/a", to(serve(t, nil), "1")); err != nil {
		t.Fatal(err)
	}
	before, _ := p.Member("fleet/a")
	refused := serve(t, func(s *server) { s.status = http.StatusUnauthorized })
	if err := p.Connect(t.Context(), "fleet/a", to(refused, "2")); err == nil {
		t.Fatal("a refused credential is connected")
	}
	if m, _ := p.Member("fleet/a"); m.Cluster != before.Cluster || e.all[0].life.Err() != nil {
		t.Error("a refused credential ended the connection that works")
	}
	if err := p.Connect(t.Context(), "fleet/a", to(serve(t, nil), "3")); err != nil {
		t.Fatal(err)
	}
	m, _ := p.Member("fleet/a")
	if m.Cluster == before.Cluster || len(e.all) != 2 || e.all[0].life.Err() == nil || e.all[1].life.Err() != nil {
		t.Errorf("engaged: %+v", e.all)
	}
}

func TestARefusedEngagementLeavesWhatWasThere(t *testing.T) {
	p, e := started(t, member.Options{})
	s := serve(t, nil)
	e.err = errors.New("no controller wants it")
	if err := p.Connect(t.Context(), "fleet/a", to(s, "1")); !errors.Is(err, e.err) {
		t.Errorf("it gave %v", err)
	}
	if _, found := p.Member("fleet/a"); found || e.all[0].life.Err() == nil {
		t.Error("it is there, or still alive")
	}
	e.err = nil
	if err := p.Connect(t.Context(), "fleet/a", to(s, "1")); err != nil {
		t.Fatal(err)
	}
	before, _ := p.Member("fleet/a")
	e.err = errors.New("not again")
	if err := p.Connect(t.Context(), "fleet/a", to(s, "2")); !errors.Is(err, e.err) {
		t.Errorf("it gave %v", err)
	}
	if m, _ := p.Member("fleet/a"); m.Cluster != before.Cluster || e.all[1].life.Err() != nil {
		t.Error("the one before is gone, or has ended")
	}
}

func TestDisconnectForgets(t *testing.T) {
	p, e := started(t, member.Options{})
	for _, name := range []multicluster.ClusterName{"fleet/b", "fleet/a"} {
		if err := p.Connect(t.Context(), name, to(serve(t, nil), "1")); err != nil {
			t.Fatal(err)
		}
	}
	names := func() (all []multicluster.ClusterName) {
		for _, m := range p.Members() {
			all = append(all, m.Name)
		}
		return all
	}
	if diff := cmp.Diff([]multicluster.ClusterName{"fleet/a", "fleet/b"}, names()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.Disconnect("fleet/b")
	p.Disconnect("fleet/unheard-of")
	if diff := cmp.Diff([]multicluster.ClusterName{"fleet/a"}, names()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if e.all[0].life.Err() == nil || e.all[1].life.Err() != nil {
		t.Error("its life goes on, or another's has ended")
	}
	if h := p.Health("fleet/b"); h.State != member.Connecting {
		t.Errorf("health %+v", h)
	}
	if _, err := p.Get(t.Context(), "fleet/b"); !errors.Is(err, multicluster.ErrClusterNotFound) {
		t.Errorf("it gave %v", err)
	}
}

func TestNothingIsConnectedBeforeThisReplicaLeads(t *testing.T) {
	p := member.NewProvider(member.Options{})
	if err := p.Connect(t.Context(), "fleet/a", to(serve(t, nil), "1")); err == nil {
		t.Error("it is connected")
	}
	if h := p.Health("fleet/a"); h.State != member.Connecting || h.Failures != 0 {
		t.Errorf("health %+v", h)
	}
}
