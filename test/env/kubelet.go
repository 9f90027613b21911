// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
)

// proxyPort is where k8sd-proxy pods listen.
const proxyPort = 2380

// kubelet is the port-forward endpoint of one node, which has one pod: k8sd-proxy.
type kubelet struct {
	server http.Server
	addr   *net.TCPAddr
	pod    string   // namespace/name
	k8sd   net.Addr // where the pod leads to

	mu    sync.Mutex
	conns map[net.Conn]struct{} // taken over by tunnels: http.Server.Close leaves these open
}

// newKubelet listens on a port of its own and forwards the pod's proxy port to k8sd.
func newKubelet(cert tls.Certificate, pod string, k8sd net.Addr) (*kubelet, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for a kubelet: %w", err)
	}
	k := &kubelet{pod: pod, k8sd: k8sd, addr: l.Addr().(*net.TCPAddr), conns: map[net.Conn]struct{}{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/portForward/{namespace}/{pod}", k.portForward)
	k.server.Handler = mux
	k.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	k.server.ConnState = k.track
	k.server.ReadHeaderTimeout = time.Minute
	k.server.ErrorLog = log.New(io.Discard, "", 0) // connections that tests cut
	go func() { _ = k.server.ServeTLS(l, "", "") }()
	return k, nil
}

// close stops listening and cuts the open tunnels, as a node that dies.
func (k *kubelet) close() {
	_ = k.server.Close()
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.conns {
		_ = c.Close()
	}
	clear(k.conns)
}

func (k *kubelet) track(c net.Conn, s http.ConnState) {
	if s != http.StateHijacked {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.conns[c] = struct{}{}
}

func (k *kubelet) untrack(c net.Conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.conns, c)
}

// portForward holds one tunnel until either side ends it.
func (k *kubelet) portForward(w http.ResponseWriter, r *http.Request) {
	const idle, creation = 4 * time.Hour, 30 * time.Second // as a kubelet's defaults
	pod := r.PathValue("namespace") + "/" + r.PathValue("pod")
	if pod != k.pod {
		http.Error(w, "pod does not exist", http.StatusNotFound)
		return
	}
	opts, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var conn net.Conn
	portforward.ServePortForward(remember{w, &conn}, r, k, pod, "", opts, idle, creation, portforward.SupportedProtocols)
	if conn != nil {
		k.untrack(conn)
	}
}

// remember notes the connection that a tunnel takes over.
type remember struct {
	http.ResponseWriter
	conn *net.Conn
}

// Hijack is called once the tunnel is agreed on.
func (r remember) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(r.ResponseWriter).Hijack()
	*r.conn = conn
	return conn, buffered, err
}

// PortForward carries one connection of a tunnel. Its context is never cancelled: the end of the stream is the only
// sign that the client has gone.
func (k *kubelet) PortForward(ctx context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	if port != proxyPort {
		return fmt.Errorf("dial tcp4 127.0.0.1:%d: connect: connection refused", port)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, k.k8sd.Network(), k.k8sd.String())
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
