// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"

	"k8s.io/utils/clock"
)

// link is the way to one node: a tunnel to its proxy pod, and the connections inside. It is used by one call at a
// time, opened by the first and closed when it has been idle.
type link struct {
	node     Node
	workload *workload
	opts     Options
	// turn holds one token; who has taken it may use the link.
	turn      chan struct{}
	transport *http.Transport
	// idle is called after the link has closed itself.
	idle func()

	mu     sync.Mutex
	tunnel *tunnel
	place  place
	timer  clock.Timer
	done   bool
	// uses counts calls, so that a timer of before does not close what is in use again.
	uses int
}

func newLink(node Node, w *workload, opts Options, verify func(tls.ConnectionState) error) *link {
	l := &link{node: node, workload: w, opts: opts, turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	l.transport = &http.Transport{
		DialContext: l.dial,
		// k8sd's certificate is signed by itself; it is pinned instead (PROTOCOL.md 5.2, 20).
		TLSClientConfig: &tls.Config{
			InsecureSkipVerify: true, //nolint:gosec // VerifyConnection checks the pin
			VerifyConnection:   verify,
			MinVersion:         tls.VersionTLS12,
		},
		TLSHandshakeTimeout: opts.DialTimeout,
		MaxIdleConns:        1,
		// Beyond it an answer is none of k8sd's.
		MaxResponseHeaderBytes: maxHeader,
		IdleConnTimeout:        opts.Idle,
	}
	return l
}

// begin waits for the turn.
func (l *link) begin(ctx context.Context) error {
	select {
	case <-l.turn:
	case <-ctx.Done():
		return fmt.Errorf("waiting for another call to %s: %w", l.node, ctx.Err())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.uses++
	if l.timer != nil {
		l.timer.Stop()
	}
	return nil
}

// end gives the turn back and lets the link close itself after a while.
func (l *link) end() {
	l.mu.Lock()
	uses := l.uses
	l.timer = l.opts.Clock.AfterFunc(l.opts.Idle, func() {
		if l.closeIfIdle(uses) {
			l.idle()
		}
	})
	l.mu.Unlock()
	l.turn <- struct{}{}
}

// connect makes sure of a live tunnel and returns the Host of requests.
func (l *link) connect(ctx context.Context, fresh bool) (string, error) {
	if fresh {
		l.transport.CloseIdleConnections()
	}
	l.mu.Lock()
	t, at := l.tunnel, l.place
	l.mu.Unlock()
	if t != nil && !t.lost() {
		return at.host, nil
	}
	l.transport.CloseIdleConnections() // those of the tunnel that was lost
	at, err := l.workload.locate(ctx, l.node.NodeName, l.opts.Port)
	if err != nil {
		return "", err
	}
	t, err = l.workload.open(ctx, at.pod)
	if err != nil {
		return "", fmt.Errorf("port-forward to pod %s/%s: %w", proxyNamespace, at.pod, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done { // by Close
		t.close()
		return "", fmt.Errorf("the way to %s has been closed", l.node)
	}
	l.tunnel, l.place = t, at
	return at.host, nil
}

// drop ends the tunnel; the next call opens another.
func (l *link) drop() {
	l.mu.Lock()
	t := l.tunnel
	l.tunnel = nil
	l.mu.Unlock()
	l.transport.CloseIdleConnections()
	if t != nil {
		t.close()
	}
}

// dial fits http.Transport. The address is the node's; where it leads is the tunnel's business.
func (l *link) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	l.mu.Lock()
	t := l.tunnel
	l.mu.Unlock()
	if t == nil {
		return nil, errTunnelLost
	}
	return t.dial(ctx, l.opts.Port)
}

func (l *link) closed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done
}

// closeIfIdle closes the link unless it has been used since.
func (l *link) closeIfIdle(uses int) bool {
	select {
	case <-l.turn:
		defer func() { l.turn <- struct{}{} }()
	default:
		return false
	}
	l.mu.Lock()
	current := l.uses == uses
	l.mu.Unlock()
	if current {
		l.close()
	}
	return current
}

func (l *link) close() {
	l.mu.Lock()
	l.done = true
	l.mu.Unlock()
	l.drop()
}
