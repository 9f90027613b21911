// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package k8sd asks the k8sd of one node to refresh its snap, and how a refresh is getting on. Every error says
// whether the request can have reached the node, since a refresh must never be sent twice.
//
// The way to a node is the one that its cluster offers to its management cluster: the kubeconfig Secret leads to the
// workload API server, which forwards a stream to the k8sd-proxy pod of the node, which passes it on to k8sd (PROTOCOL.md
// 4). Inside the stream is TLS with a certificate that nobody can verify; it is pinned when it is first seen.
package k8sd

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/protocol"
)

// Node is the node of one machine.
type Node struct {
	// Cluster that the machine belongs to, as Cluster API names it.
	Cluster types.NamespacedName
	// Machine is the name of the Machine: its token is found by it.
	Machine string
	// NodeName is the name of the Node in the workload cluster.
	NodeName string
}

// String names the node for people.
func (n Node) String() string { return fmt.Sprintf("node %s of cluster %s", n.NodeName, n.Cluster) }

// Options of a Client. Reader and Clock are required.
type Options struct {
	// Reader reads Secrets of the management cluster past every cache.
	Reader client.Reader
	// Clock closes what is idle.
	Clock clock.WithDelayedExecution
	// Timeout bounds one refresh, everything included. Default 60s.
	Timeout time.Duration
	// StatusTimeout bounds one question about a change, everything included. Default 15s: it is asked again anyway, and
	// a mute node holds whoever asks.
	StatusTimeout time.Duration
	// DialTimeout bounds the way to the node: look-ups, tunnel, TLS. Default 10s.
	DialTimeout time.Duration
	// Idle is how long a tunnel stays open without a call. Default 30s.
	Idle time.Duration
	// Port of the k8sd-proxy pods. Default 2380.
	Port int
}

// Defaults of Options.
const (
	DefaultTimeout       = time.Minute
	DefaultStatusTimeout = 15 * time.Second
	DefaultDialTimeout   = 10 * time.Second
	DefaultIdle          = 30 * time.Second
	DefaultPort          = 2380
)

// Client reaches the nodes of all clusters of one management cluster. It is safe for concurrent use: calls to one
// node take turns, and no node waits for another.
type Client struct {
	opts Options
	pins *pins

	mu        sync.Mutex
	workloads map[types.NamespacedName]*workload
	links     map[Node]*link
}

// New returns a client that has opened nothing yet.
func New(opts Options) *Client {
	opts.Timeout = orDefault(opts.Timeout, DefaultTimeout)
	opts.StatusTimeout = orDefault(opts.StatusTimeout, DefaultStatusTimeout)
	opts.DialTimeout = orDefault(opts.DialTimeout, DefaultDialTimeout)
	opts.Idle = orDefault(opts.Idle, DefaultIdle)
	if opts.Port == 0 {
		opts.Port = DefaultPort
	}
	return &Client{
		opts: opts, pins: &pins{seen: map[Node]string{}},
		workloads: map[types.NamespacedName]*workload{}, links: map[Node]*link{},
	}
}

// Refresh asks the node to refresh its snap and returns snapd's change id, which is empty when there was nothing to
// do. Errors are of the classes NotSent, Rejected and Unknown.
func (c *Client) Refresh(ctx context.Context, node Node, target protocol.Target) (string, error) {
	var answer refreshResponse
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	err := c.call(ctx, node, request{path: refreshPath, body: refreshRequestFor(target), fresh: true}, &answer)
	if err == nil && len(answer.ChangeID) > maxChangeID {
		err = unknown(http.StatusOK, fmt.Errorf("k8sd answered with a change id of %d bytes", len(answer.ChangeID)))
	}
	if err != nil {
		return "", fmt.Errorf("refreshing %s: %w", node, err)
	}
	return answer.ChangeID, nil
}

// RefreshStatus asks how a change is getting on. A change that snapd does not know has an empty Status and is not
// Completed.
func (c *Client) RefreshStatus(ctx context.Context, node Node, changeID string) (Status, error) {
	var answer Status
	ctx, cancel := context.WithTimeout(ctx, c.opts.StatusTimeout)
	defer cancel()
	err := c.call(ctx, node, request{path: statusPath, body: statusRequest{ChangeID: changeID}}, &answer)
	if err != nil {
		return Status{}, fmt.Errorf("asking %s about change %q: %w", node, changeID, err)
	}
	answer.Status, answer.ErrorMessage = clipped(answer.Status), clipped(answer.ErrorMessage)
	return answer, nil
}

// Close ends all tunnels; calls in progress fail. The client may be used again.
func (c *Client) Close() {
	c.mu.Lock()
	links := c.links
	c.links, c.workloads = map[Node]*link{}, map[types.NamespacedName]*workload{}
	c.mu.Unlock()
	for _, l := range links {
		l.close()
	}
}

func (c *Client) call(ctx context.Context, node Node, r request, into any) error {
	dialCtx, cancelDial := context.WithTimeout(ctx, c.opts.DialTimeout)
	defer cancelDial()
	token, err := c.token(dialCtx, node)
	if err != nil {
		return notSent(err)
	}
	l, err := c.begin(dialCtx, node)
	if err != nil {
		return notSent(err)
	}
	defer l.end()
	host, err := l.connect(dialCtx, r.fresh)
	if err != nil {
		return notSent(err)
	}
	err = r.send(ctx, l.transport, endpoint{host: host, token: token}, into)
	if err != nil && !IsRejected(err) {
		l.drop() // the pod at its end may have been replaced
	}
	return err
}

// begin returns the way to a node when it is this call's turn.
func (c *Client) begin(ctx context.Context, node Node) (*link, error) {
	for {
		l, err := c.link(ctx, node)
		if err != nil {
			return nil, err
		}
		if err := l.begin(ctx); err != nil {
			return nil, err
		}
		if !l.closed() {
			return l, nil
		}
		l.end() // it was idle too long just now
	}
}

// link returns the way to a node, a new one when the kubeconfig has changed.
func (c *Client) link(ctx context.Context, node Node) (*link, error) {
	w, err := c.workload(ctx, node.Cluster)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.links[node]; l != nil && l.workload == w && !l.closed() {
		return l, nil
	}
	l := newLink(node, w, c.opts, c.pins.verifier(node))
	l.idle = func() { c.forget(node, l) }
	c.links[node] = l // the one before closes itself when it is idle
	return l, nil
}

// forget drops a link that has closed itself, and what only it used.
func (c *Client) forget(node Node, l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.links[node] != l {
		return
	}
	delete(c.links, node)
	for other := range c.links {
		if other.Cluster == node.Cluster {
			return
		}
	}
	delete(c.workloads, node.Cluster)
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}
