// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-dev/windlass/engine/k8sd"
)

const token = "0123456789abcdef0123456789abcdef"

// world is a workload cluster with nodes, as a management cluster reaches it: an API server that passes port-forwards
// on, and a k8sd behind each.
type world struct {
	t       testing.TB
	api     *httptest.Server
	secrets client.WithWatch
	clock   *clocktesting.FakeClock

	mu    sync.Mutex
	nodes map[string]*node
	// tunnels counts the port-forwards that were opened, open those that are.
	tunnels, open int
	closed        chan struct{} // one for each tunnel that was closed
	// mute makes the API server accept port-forwards of this node and never answer.
	mute string
	// hasty is the node whose kubelet refuses a stream before it has opened it.
	hasty string
}

// node is a k8sd that keeps what it was sent and answers as told.
type node struct {
	name, pod string
	listener  net.Listener
	cert      tls.Certificate
	// answer is given after each request; a nil one cuts the connection.
	answer []byte
	// last ends the connection after the answer.
	last bool
	// hang keeps the answer back until the test ends.
	hang chan struct{}

	mu       sync.Mutex
	requests []string
	conns    int
}

func newWorld(t testing.TB, names ...string) *world {
	t.Helper()
	w := &world{
		t: t, nodes: map[string]*node{}, clock: clocktesting.NewFakeClock(time.Unix(0, 0)),
		closed: make(chan struct{}, 100),
	}
	for _, name := range names {
		w.nodes[name] = newNode(t, name)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/nodes/{node}", w.getNode)
	mux.HandleFunc("GET /api/v1/namespaces/kube-system/pods", w.listPods)
	mux.HandleFunc("POST /api/v1/namespaces/kube-system/pods/{pod}/portforward", w.portForward)
	w.api = httptest.NewTLSServer(mux)
	t.Cleanup(w.api.Close)
	t.Cleanup(w.api.CloseClientConnections)
	w.secrets = fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(
		secret("eu-kubeconfig", "value", w.kubeconfig(func(*clientcmdapi.Config) {})),
		secret("eu-token", "node-token-m0", []byte(token)),
	).Build()
	return w
}

func secret(name, key string, value []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
		Data:       map[string][]byte{key: value},
	}
}

func (w *world) kubeconfig(change func(*clientcmdapi.Config)) []byte {
	w.t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.api.Certificate().Raw})
	c := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"eu": {Server: w.api.URL, CertificateAuthorityData: ca}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"admin": {Token: "bearer"}},
		Contexts:       map[string]*clientcmdapi.Context{"eu": {Cluster: "eu", AuthInfo: "admin"}},
		CurrentContext: "eu",
	}
	change(&c)
	text, err := clientcmd.Write(c)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func (w *world) client(change func(o *k8sd.Options)) *k8sd.Client {
	o := k8sd.Options{Reader: w.secrets, Clock: w.clock}
	change(&o)
	c := k8sd.New(o)
	w.t.Cleanup(c.Close)
	return c
}

func defaults(*k8sd.Options) {}

func at(name string) k8sd.Node {
	return k8sd.Node{Cluster: types.NamespacedName{Namespace: "shop", Name: "eu"}, Machine: "m0", NodeName: name}
}

func (w *world) find(match func(*node) bool) *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.nodes {
		if match(n) {
			return n
		}
	}
	return nil
}

func (w *world) getNode(rw http.ResponseWriter, r *http.Request) {
	n := w.find(func(n *node) bool { return n.name == r.PathValue("node") })
	if n == nil {
		rw.WriteHeader(http.StatusNotFound)
		return
	}
	reply(rw, &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: n.name},
		Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeExternalIP, Address: "192.0.2.1"}, {Type: corev1.NodeInternalIP, Address: "10.0.0.7"},
		}},
	})
}

// listPods shows a pod that is not ready before the node's real one.
func (w *world) listPods(rw http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("labelSelector") != "app=k8sd-proxy" {
		w.t.Errorf("pods are listed by %s", r.URL.RawQuery)
	}
	n := w.find(func(n *node) bool { return r.URL.Query().Get("fieldSelector") == "spec.nodeName="+n.name })
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	if n != nil && n.pod != "" {
		list.Items = []corev1.Pod{
			pod("a-pending", corev1.PodPending, false), pod("b-running", corev1.PodRunning, false),
			pod(n.pod, corev1.PodRunning, true),
		}
	}
	reply(rw, list)
}

func pod(name string, phase corev1.PodPhase, ready bool) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Phase: phase}}
	if ready {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return p
}

func reply(rw http.ResponseWriter, o any) {
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(o)
}

func (w *world) portForward(rw http.ResponseWriter, r *http.Request) {
	n := w.find(func(n *node) bool { return n.pod == r.PathValue("pod") })
	switch {
	case n == nil:
		http.Error(rw, fmt.Sprintf("pods %q not found", r.PathValue("pod")), http.StatusNotFound)
		return
	case n.name == w.mute:
		<-r.Context().Done()
		return
	case n.name == w.hasty:
		refuseAtOnce(rw, r)
		return
	}
	opts, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	w.count(1)
	portforward.ServePortForward(rw, r, n, n.pod, "", opts, time.Hour, time.Minute, portforward.SupportedProtocols)
	w.count(-1)
	w.closed <- struct{}{}
}

// refuseAtOnce is a kubelet that fails before it has answered that the data stream is open.
func refuseAtOnce(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set(httpstream.HeaderProtocolVersion, "portforward.k8s.io")
	var failure httpstream.Stream
	conn := spdy.NewResponseUpgrader().UpgradeResponse(rw, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		if s.Headers().Get(corev1.StreamType) == corev1.StreamTypeError {
			failure = s
			return nil
		}
		_, _ = io.WriteString(failure, "nothing listens in the pod")
		_ = failure.Close()
		return errors.New("refused")
	})
	if conn != nil {
		<-conn.CloseChan()
	}
}

func (w *world) count(by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open += by
	w.tunnels += max(by, 0)
}

func (w *world) counted() (tunnels, open int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tunnels, w.open
}

func newNode(t testing.TB, name string) *node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{name: name, pod: "k8sd-proxy-" + name, listener: l, cert: selfSigned(t), hang: make(chan struct{})}
	close(n.hang)
	n.says(http.StatusOK, `{"type":"sync","error":"","metadata":{"changeId":"42"}}`)
	t.Cleanup(func() { _ = l.Close() })
	go n.serve()
	return n
}

func selfSigned(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1<<33, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// PortForward is the kubelet's and the proxy pod's part.
func (n *node) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	if port != 2380 {
		return fmt.Errorf("connection refused")
	}
	conn, err := net.Dial("tcp", n.listener.Addr().String())
	if err != nil {
		return fmt.Errorf("nothing listens in the pod: %w", err)
	}
	defer func() { _ = conn.Close() }()
	go func() {
		_, _ = io.Copy(conn, stream)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(stream, conn)
	return nil
}

func (n *node) serve() {
	for {
		raw, err := n.listener.Accept()
		if err != nil {
			return
		}
		n.mu.Lock()
		n.conns++
		conn := tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{n.cert}, MinVersion: tls.VersionTLS12})
		n.mu.Unlock()
		go n.talk(conn)
	}
}

// talk keeps each request as its bytes are on the wire.
func (n *node) talk(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for {
		var wire bytes.Buffer
		r, err := http.ReadRequest(bufio.NewReaderSize(io.TeeReader(conn, &wire), 1))
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		n.mu.Lock()
		n.requests = append(n.requests, wire.String())
		answer, hang, last := n.answer, n.hang, n.last
		n.mu.Unlock()
		<-hang
		if answer == nil {
			return
		}
		if _, err := conn.Write(answer); err != nil || last {
			return
		}
	}
}

func (n *node) says(code int, body string) {
	n.set(func() {
		n.answer = fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			code, http.StatusText(code), len(body), body)
	})
}

func (n *node) set(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

func (n *node) heard() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.requests)
}
