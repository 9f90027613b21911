// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

// node is one node's k8sd and snapd. The simulator's lock guards it.
type node struct {
	name, token, version string

	server   *http.Server
	listener net.Listener

	script    []Step
	fault     Fault
	faults    int       // calls that still end in fault
	faultsEnd time.Time // calls before this end in fault

	changes map[string]*change
}

// change is one snapd change.
type change struct {
	status  string
	message string
	ready   bool
	pruned  bool
}

// Add starts the k8sd of a node that runs kubeletVersion and expects token, and returns the address on which it
// listens. A node that was added before is replaced.
func (s *Simulator) Add(name, token, kubeletVersion string) (net.Addr, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for k8sd of node %s: %w", name, err)
	}
	n := &node{name: name, token: token, version: kubeletVersion, listener: l, changes: map[string]*change{}}
	n.server = &http.Server{
		Handler:           s.handler(n),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{s.cert}, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0), // connections that tests cut
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	s.mu.Lock()
	if old := s.nodes[name]; old != nil {
		old.close()
	}
	s.nodes[name] = n
	s.mu.Unlock()
	s.work.Go(func() { _ = n.server.ServeTLS(l, "", "") }) // ends with close
	return l.Addr(), nil
}

// Remove stops the k8sd of a node and forgets it. Its posts stay in the log.
func (s *Simulator) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.nodes[name]; n != nil {
		n.close()
		delete(s.nodes, name)
	}
}

func (n *node) close() {
	_ = n.server.Close()
	_ = n.listener.Close() // when Serve has not begun
}

func (n *node) failUntil(f Fault, t time.Time) { n.fault, n.faults, n.faultsEnd = f, 0, t }

// handler asks in k8sd's order: is it up, is the caller allowed, what does it want.
func (s *Simulator) handler(n *node) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /1.0/snap/refresh", func(w http.ResponseWriter, r *http.Request) { s.refresh(n, w, r) })
	mux.HandleFunc("POST /1.0/snap/refresh-status", func(w http.ResponseWriter, r *http.Request) { s.status(n, w, r) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := s.pendingFault(n); f != nil {
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice a caller that goes
			f.serve(w, r, s.ctx().Done())
			return
		}
		switch got := r.Header.Get("node-token"); {
		case got == "":
			fail(w, http.StatusUnauthorized, errMissingToken)
		case subtle.ConstantTimeCompare([]byte(got), []byte(n.token)) != 1:
			fail(w, http.StatusUnauthorized, errInvalidToken)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

func (s *Simulator) pendingFault(n *node) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.faults > 0 {
		n.faults--
		return new(n.fault)
	}
	if s.opts.Clock.Now().Before(n.faultsEnd) {
		return new(n.fault)
	}
	return nil
}

func (s *Simulator) refresh(n *node, w http.ResponseWriter, r *http.Request) {
	var req refreshRequest
	if err := readInto(r, &req); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	target, err := req.target()
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	id, step := s.begin(n, target)
	switch {
	case step.fault != nil:
		step.fault.serve(w, r, s.ctx().Done())
	case step.loseReply:
		reset(r)
	default:
		reply(w, changeID{ChangeID: id})
	}
}

// begin is the snap command: it starts the change of the node's next step and returns its id, which is empty when
// there is nothing to change or the step says to refuse.
func (s *Simulator) begin(n *node, target string) (string, Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, step := s.decide(n, target)
	s.posts = append(s.posts, Post{Time: s.opts.Clock.Now(), Node: n.name, Target: target, ChangeID: id})
	if id == "" {
		return id, step
	}
	n.changes[id] = &change{status: StatusDoing, pruned: step.pruned}
	version := s.released[target]
	if !step.endless && s.ctx().Err() == nil {
		taken := s.timer(step.takes) // counts from now, whenever the change is looked after
		s.work.Go(func() { s.run(n, id, step, version, taken) })
	}
	return id, step
}

func (s *Simulator) decide(n *node, target string) (string, Step) {
	version, released := s.released[target]
	if !released || n.busy() {
		return "", Refused(SnapFailed())
	}
	step := s.standard
	if len(n.script) > 0 {
		step, n.script = n.script[0], n.script[1:]
	}
	switch {
	case step.fault != nil, step.noChange:
		return "", step
	case step.succeeds() && n.version == version:
		return "", NoChange()
	}
	return strconv.Itoa(len(n.changes) + 1), step
}

func (n *node) busy() bool {
	for _, c := range n.changes {
		if !c.ready {
			return true
		}
	}
	return false
}

func (s *Simulator) status(n *node, w http.ResponseWriter, r *http.Request) {
	var req changeID
	if err := readInto(r, &req); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := n.changes[req.ChangeID]
	if c == nil || c.pruned {
		reply(w, changeStatus{}) // k8sd ignores snapd's 404
		return
	}
	reply(w, changeStatus{Status: c.status, Completed: c.ready, ErrorMessage: c.message})
}

func readInto(r *http.Request, into any) error {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, 1<<20))
	if err != nil {
		return errors.New(errParse + err.Error())
	}
	return decode(body, into)
}
