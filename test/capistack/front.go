// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capistack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Names of the pods that lead to a node's k8sd.
const (
	proxyNamespace = metav1.NamespaceSystem
	proxyName      = "k8sd-proxy"
	proxyPort      = 2380
)

// front stands before the in-memory API servers, which forward ports to themselves only. It has a k8sd-proxy pod on
// every node, whose port leads to the simulated k8sd, and passes on all else.
type front struct {
	nodes  *nodes
	server http.Server
	addr   string
}

func newFront(n *nodes) (*front, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for workload clusters: %w", err)
	}
	f := &front{nodes: n, addr: l.Addr().String()}
	const cluster = "/{clusterNamespace}/{cluster}"
	const pods = cluster + "/api/v1/namespaces/" + proxyNamespace + "/pods"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pods, f.list)
	mux.HandleFunc("POST "+pods+"/{pod}/portforward", f.portForward)
	mux.HandleFunc(cluster+"/", f.pass)
	f.server = http.Server{
		Handler: mux, ReadHeaderTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // connections that are cut at the end
	}
	go func() { _ = f.server.Serve(l) }()
	return f, nil
}

func (f *front) close() { _ = f.server.Close() }

// kubeconfig is what leads to a cluster through the front.
func (f *front) kubeconfig(cluster types.NamespacedName) ([]byte, error) {
	c := clientcmdapi.NewConfig()
	c.Clusters[cluster.Name] = &clientcmdapi.Cluster{Server: "http://" + f.addr + "/" + cluster.String()}
	c.Contexts[cluster.Name] = &clientcmdapi.Context{Cluster: cluster.Name}
	c.CurrentContext = cluster.Name
	return clientcmd.Write(*c)
}

func clusterOf(r *http.Request) types.NamespacedName {
	return types.NamespacedName{Namespace: r.PathValue("clusterNamespace"), Name: r.PathValue("cluster")}
}

// list answers with the k8sd-proxy pod of the node that is asked for; other lists of pods are passed on.
func (f *front) list(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("labelSelector") != "app="+proxyName {
		f.pass(w, r)
		return
	}
	selector, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	if name, found := selector.RequiresExactMatch("spec.nodeName"); found && f.nodes.sim.Addr(name) != nil {
		list.Items = []corev1.Pod{{
			ObjectMeta: metav1.ObjectMeta{Namespace: proxyNamespace, Name: proxyName + "-" + name},
			Spec:       corev1.PodSpec{NodeName: name},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionTrue},
			}},
		}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // a caller that has gone needs no answer
}

// pass hands a request on to the API server of its cluster.
func (f *front) pass(w http.ResponseWriter, r *http.Request) {
	cluster := clusterOf(r)
	cfg, err := f.nodes.config(r.Context(), cluster)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	target, err := url.Parse(cfg.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			p.Out.URL.Path = strings.TrimPrefix(p.In.URL.Path, "/"+cluster.String())
			p.Out.URL.RawPath = ""
			p.Out.Host = target.Host
		},
	}).ServeHTTP(w, r)
}

// portForward holds one tunnel until either side ends it.
func (f *front) portForward(w http.ResponseWriter, r *http.Request) {
	const idle, creation = 4 * time.Hour, 30 * time.Second // as a kubelet's defaults
	name, ours := strings.CutPrefix(r.PathValue("pod"), proxyName+"-")
	if !ours || f.nodes.sim.Addr(name) == nil {
		http.Error(w, "pod does not exist", http.StatusNotFound)
		return
	}
	opts, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, f, name, "", opts, idle, creation, portforward.SupportedProtocols)
}

// PortForward carries one connection of a tunnel to a node's k8sd.
func (f *front) PortForward(ctx context.Context, name, _ string, port int32, stream io.ReadWriteCloser) error {
	addr := f.nodes.sim.Addr(name)
	if port != proxyPort || addr == nil {
		return fmt.Errorf("dial tcp4 127.0.0.1:%d: connect: connection refused", port)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, addr.Network(), addr.String())
	if err != nil {
		return nil // the proxy listens; that k8sd behind it does not shows as the end of the stream
	}
	defer func() { _ = conn.Close() }()
	go func() {
		_, _ = io.Copy(conn, stream) // ends when the client closes or resets
		if half, ok := conn.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
	}()
	_, _ = io.Copy(stream, conn)
	return nil
}

// Secrets reads a management cluster as the engine does, but that kubeconfig Secrets lead through the front: Cluster
// API owns the Secrets themselves.
func (s *Stack) Secrets(live client.Reader) client.Reader { return fronted{live, s.front} }

type fronted struct {
	client.Reader

	front *front
}

// Get reads one object.
func (f fronted) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := f.Reader.Get(ctx, key, o, opts...); err != nil {
		return err
	}
	secret, ok := o.(*corev1.Secret)
	name, isKubeconfig := strings.CutSuffix(key.Name, "-kubeconfig")
	if !ok || !isKubeconfig {
		return nil
	}
	kubeconfig, err := f.front.kubeconfig(types.NamespacedName{Namespace: key.Namespace, Name: name})
	if err != nil {
		return err
	}
	secret.Data = map[string][]byte{"value": kubeconfig}
	return nil
}
