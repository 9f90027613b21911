// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

const (
	portForwardProtocol = "portforward.k8s.io"
	// pingPeriod keeps load balancers from cutting a quiet tunnel.
	pingPeriod = 5 * time.Second
	// maxRefusal bounds what is read of a refused upgrade.
	maxRefusal = 4 << 10
	// lastWords is how long a kubelet that reset the data stream has to say why.
	lastWords = time.Second
)

var errTunnelLost = errors.New("the port-forward tunnel is lost")

// tunnel is a port-forward to one pod. It speaks plain SPDY: a backend that dies is noticed at once, where SPDY inside
// WebSocket takes up to a ping period, and every API server that runs the proxy pods speaks it.
type tunnel struct {
	conn   httpstream.Connection
	lastID atomic.Int64
}

// open asks the API server to upgrade a request to a tunnel. client-go's dialers take no context, and a kubelet that
// accepts and stays mute holds them for ever; net/http gives up with ctx, and the connection is ours after the answer.
func (w *workload) open(ctx context.Context, pod string) (*tunnel, error) {
	address, err := url.JoinPath(w.base, "api/v1/namespaces", proxyNamespace, "pods", pod, "portforward")
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set(httpstream.HeaderConnection, httpstream.HeaderUpgrade)
	req.Header.Set(httpstream.HeaderUpgrade, spdy.HeaderSpdy31)
	req.Header.Set(httpstream.HeaderProtocolVersion, portForwardProtocol)
	resp, err := w.upgrader.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	stream, upgraded := resp.Body.(io.ReadWriteCloser)
	if resp.StatusCode != http.StatusSwitchingProtocols || !upgraded {
		defer func() { _ = resp.Body.Close() }()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
		return nil, fmt.Errorf("unable to upgrade connection: %s: %s", resp.Status, text)
	}
	conn, err := spdy.NewClientConnectionWithPings(&plainConn{ReadWriteCloser: stream}, pingPeriod)
	if err != nil {
		return nil, err
	}
	return &tunnel{conn: conn}, nil
}

func (t *tunnel) lost() bool {
	select {
	case <-t.conn.CloseChan():
		return true
	default:
		return false
	}
}

func (t *tunnel) close() { _ = t.conn.Close() }

// dial opens a connection to a port of the pod. A tunnel that cannot is closed, so that the next call opens another.
func (t *tunnel) dial(ctx context.Context, port int) (net.Conn, error) {
	type result struct {
		conn *streamConn
		err  error
	}
	answer := make(chan result, 1)
	go func() { // creating a stream waits for the other side up to 30 s, without a context
		conn, err := t.connect(port)
		answer <- result{conn, err}
	}()
	select {
	case r := <-answer:
		if r.err != nil {
			t.close()
			return nil, r.err
		}
		return r.conn, nil
	case <-ctx.Done():
		t.close() // ends the wait of the goroutine too
		return nil, ctx.Err()
	}
}

func (t *tunnel) connect(port int) (*streamConn, error) {
	h := http.Header{}
	h.Set(corev1.PortHeader, strconv.Itoa(port))
	h.Set(corev1.PortForwardRequestIDHeader, strconv.FormatInt(t.lastID.Add(1), 10))
	h.Set(corev1.StreamType, corev1.StreamTypeError)
	failure, err := t.conn.CreateStream(h.Clone())
	if err != nil {
		return nil, fmt.Errorf("opening the error stream: %w", err)
	}
	_ = failure.Close() // only the kubelet writes here
	c := &streamConn{tunnel: t, failure: failure, said: make(chan struct{}), done: make(chan struct{})}
	go c.listen()
	h.Set(corev1.StreamType, corev1.StreamTypeData)
	if c.data, err = t.conn.CreateStream(h); err != nil {
		return nil, c.refused(err)
	}
	return c, nil
}

// refused says why there is no data stream: a kubelet that fails fast says so on the error stream and resets the data
// stream before it was seen to open.
func (c *streamConn) refused(err error) error {
	stop := time.AfterFunc(lastWords, func() { _ = c.failure.Reset() })
	defer stop.Stop()
	<-c.said
	if c.text != "" {
		return errors.New(c.text)
	}
	return fmt.Errorf("opening the data stream: %w", err)
}

// streamConn is the data stream of a port-forward as a connection, with what the kubelet says when it fails.
type streamConn struct {
	noDeadlines
	tunnel        *tunnel
	data, failure httpstream.Stream

	said chan struct{} // closed when the error stream has ended
	text string        // what it said; read after said

	once sync.Once
	done chan struct{}
}

// listen reads the error stream; unread, it would hold up others of the tunnel.
func (c *streamConn) listen() {
	defer close(c.said)
	text, _ := io.ReadAll(c.failure)
	c.text = string(text)
}

// Read names the kubelet's reason where the stream ends with one.
func (c *streamConn) Read(p []byte) (int, error) {
	n, err := c.data.Read(p)
	if err == nil {
		return n, nil
	}
	select {
	case <-c.done:
		return n, net.ErrClosed
	case <-c.said: // ends with the data stream
	}
	switch {
	case c.text != "":
		return n, errors.New(c.text)
	case c.tunnel.lost():
		return n, errTunnelLost
	}
	return n, err
}

func (c *streamConn) Write(p []byte) (int, error) { return c.data.Write(p) }

// Close resets both streams: a close would only end the writing side and leave a Read blocked. The tunnel forgets
// them.
func (c *streamConn) Close() error {
	c.once.Do(func() {
		close(c.done)
		_ = c.data.Reset()
		_ = c.failure.Reset()
		c.tunnel.conn.RemoveStreams(c.data, c.failure)
	})
	return nil
}

// plainConn is an upgraded HTTP connection.
type plainConn struct {
	io.ReadWriteCloser
	noDeadlines
}

// noDeadlines is the rest of a net.Conn that has none: a stream's would be those of the whole tunnel. Closing ends a
// blocked Read, and net/http and crypto/tls need no more.
type noDeadlines struct{}

func (noDeadlines) LocalAddr() net.Addr              { return address{} }
func (noDeadlines) RemoteAddr() net.Addr             { return address{} }
func (noDeadlines) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (noDeadlines) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (noDeadlines) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

type address struct{}

func (address) Network() string { return "port-forward" }
func (address) String() string  { return "port-forward" }
