// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member_test

import (
	"cmp"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"

	"github.com/windlass-dev/windlass/fleet/member"
)

// server is as much of a management cluster's API server as the hub asks of one. Fields are set before it is asked.
type server struct {
	*httptest.Server

	// UID of its kube-system, and when the provider's Lease there was renewed; empty: there is none.
	uid, renewed string
	// status is what every request is answered with; 0: what it asks for.
	status int
	// withoutAPI: Cluster API is not served. mute: lists are never answered.
	withoutAPI, mute bool
	clusters         []string
	// gone: from now on only the load balancer in front of it answers.
	gone atomic.Bool
}

func serve(t *testing.T, change func(*server)) *server {
	t.Helper()
	s := &server{uid: "system-1"}
	if change != nil {
		change(s)
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *server) config() *rest.Config { return &rest.Config{Host: s.URL} }

func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	path, wants := r.URL.Path, r.URL.Query()
	switch {
	case s.gone.Load():
		http.Error(w, "no healthy upstream", http.StatusServiceUnavailable)
	case s.status != 0:
		reason := http.StatusText(s.status)
		reply(w, s.status, object{"kind": "Status", "status": "Failure", "code": s.status, "reason": reason})
	case wants.Get("sendInitialEvents") != "":
		reply(w, http.StatusUnprocessableEntity, object{"kind": "Status", "code": 422, "reason": "Invalid"})
	case wants.Get("watch") != "", s.mute && strings.HasPrefix(path, "/apis/cluster.x-k8s.io/v1beta2/"):
		w.WriteHeader(http.StatusOK)
		http.NewResponseController(w).Flush() //nolint:errcheck // it can
		<-r.Context().Done()
	case path == "/version":
		reply(w, http.StatusOK, object{"gitVersion": "v1.33.1"})
	case path == "/apis/coordination.k8s.io/v1/leases":
		reply(w, http.StatusOK, object{"kind": "LeaseList", "apiVersion": "coordination.k8s.io/v1", "items": s.leases()})
	case path == "/api/v1/namespaces/kube-system":
		reply(w, http.StatusOK, object{
			"kind": "Namespace", "apiVersion": "v1", "metadata": object{"name": "kube-system", "uid": s.uid},
		})
	case strings.HasPrefix(path, "/apis/cluster.x-k8s.io/v1beta2/"):
		s.list(w, strings.TrimPrefix(path, "/apis/cluster.x-k8s.io/v1beta2/"))
	default:
		s.discover(w, path)
	}
}

type object map[string]any

func reply(w http.ResponseWriter, code int, body object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func (s *server) leases() []object {
	if s.renewed == "" {
		return nil
	}
	return []object{{"metadata": object{"name": "l", "namespace": "x"}, "spec": object{"renewTime": s.renewed}}}
}

func (s *server) list(w http.ResponseWriter, resource string) {
	kind := map[string]string{
		"clusters": "Cluster", "machines": "Machine", "machinesets": "MachineSet", "machinedeployments": "MachineDeployment",
	}[resource]
	items := []object{}
	if kind == "Cluster" {
		for _, name := range s.clusters {
			items = append(items, object{
				"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": kind, "metadata": object{"namespace": "shop", "name": name},
			})
		}
	}
	reply(w, http.StatusOK, object{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": kind + "List", "metadata": object{"resourceVersion": "1"},
		"items": items,
	})
}

// groups are the resources of each group and version that it serves.
var groups = map[string][]object{
	"v1":                     {resource("namespaces", "Namespace", false)},
	"coordination.k8s.io/v1": {resource("leases", "Lease", true)},
	"cluster.x-k8s.io/v1beta2": {
		resource("clusters", "Cluster", true), resource("machines", "Machine", true),
		resource("machinesets", "MachineSet", true), resource("machinedeployments", "MachineDeployment", true),
	},
}

func resource(name, kind string, namespaced bool) object {
	return object{"name": name, "kind": kind, "namespaced": namespaced, "verbs": []string{"get", "list", "watch"}}
}

func (s *server) discover(w http.ResponseWriter, path string) {
	version := strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"), "/api/")
	resources, served := groups[version]
	var list []object
	for gv := range groups {
		if group, v, found := strings.Cut(gv, "/"); found && !(s.withoutAPI && group == "cluster.x-k8s.io") {
			one := object{"groupVersion": gv, "version": v}
			list = append(list, object{"name": group, "versions": []object{one}, "preferredVersion": one})
		}
	}
	switch {
	case path == "/api":
		reply(w, http.StatusOK, object{"kind": "APIVersions", "versions": []string{"v1"}})
	case path == "/apis":
		reply(w, http.StatusOK, object{"kind": "APIGroupList", "apiVersion": "v1", "groups": list})
	case served && !(s.withoutAPI && strings.HasPrefix(version, "cluster")):
		reply(w, http.StatusOK, object{
			"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources,
		})
	default:
		reply(w, http.StatusNotFound, object{"kind": "Status", "code": 404, "reason": "NotFound"})
	}
}

// silent is a listener that accepts connections and never says anything; each connection is told.
func silent(t *testing.T) (address string, connected <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	told := make(chan struct{}, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			told <- struct{}{}
		}
	}()
	return "http://" + l.Addr().String(), told
}

var now = time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)

// engaged records what a provider hands on.
type engaged struct {
	multicluster.Aware

	mu  sync.Mutex
	all []engagement
	err error
}

type engagement struct {
	name multicluster.ClusterName
	life context.Context //nolint:containedctx // the context is what is looked at
}

func (e *engaged) Engage(ctx context.Context, name multicluster.ClusterName, _ cluster.Cluster) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, engagement{name, ctx})
	return e.err
}

// started is a provider that runs until the test ends. What it is not told to give up soon, it waits for as long as a slow
// machine may need.
func started(t *testing.T, opts member.Options) (*member.Provider, *engaged) {
	t.Helper()
	const patient = 10 * time.Minute
	opts.ProbeTimeout = cmp.Or(opts.ProbeTimeout, patient)
	opts.ConnectTimeout = cmp.Or(opts.ConnectTimeout, patient)
	opts.Scheme = runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(opts.Scheme); err != nil {
		t.Fatal(err)
	}
	opts.Clock = clocktesting.NewFakePassiveClock(now)
	p, e := member.NewProvider(opts), &engaged{}
	ctx, stop := context.WithCancel(context.Background())
	life := &asked{Context: ctx, first: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.Start(life, e)
	}()
	t.Cleanup(func() { stop(); <-ended })
	<-life.first // the last thing that Start does is to wait for the end of its life
	return p, e
}

// asked is a context that tells when its end is first waited for.
type asked struct {
	context.Context //nolint:containedctx // it is one

	once  sync.Once
	first chan struct{}
}

func (a *asked) Done() <-chan struct{} {
	a.once.Do(func() { close(a.first) })
	return a.Context.Done()
}
