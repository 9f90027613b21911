// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
)

// State says whether a member answers.
type State string

// The states of a member.
const (
	// Connecting: nothing has been heard yet.
	Connecting State = "Connecting"
	// Ready: it answered the last probe.
	Ready State = "Ready"
	// Unreachable: it did not answer; what is cached of it is old.
	Unreachable State = "Unreachable"
	// Unauthorized: it refused the credential.
	Unauthorized State = "Unauthorized"
	// APIMissing: it answers, and does not serve Cluster API.
	APIMissing State = "APIMissing"
)

// Health is what is known of a member's answers.
type Health struct {
	State   State
	Message string
	// LastAnswer is the last instant at which it answered; zero: never since this process started.
	LastAnswer time.Time
	// Failures in a row.
	Failures       int
	ServerVersion  string
	lastWatchError string
	// said is since when Message is what it is.
	said time.Time
}

// Health returns the health of a member; one that was never connected is Connecting.
func (p *Provider) Health(name multicluster.ClusterName) Health {
	p.mu.RLock()
	defer p.mu.RUnlock()
	h, found := p.health[name]
	if !found {
		return Health{State: Connecting}
	}
	return h
}

// Probe asks an engaged member once and returns its health.
func (p *Provider) Probe(ctx context.Context, name multicluster.ClusterName) Health {
	p.mu.RLock()
	e := p.members[name]
	p.mu.RUnlock()
	if e == nil {
		return p.Health(name)
	}
	version, err := p.ask(ctx, e.probe)
	if err != nil {
		p.failed(name, err)
	} else {
		p.answered(name, version)
	}
	return p.Health(name)
}

// ask is the cheapest question that tells whether an API server answers: its version.
func (p *Provider) ask(ctx context.Context, c rest.Interface) (string, error) {
	ctx, done := context.WithTimeout(ctx, p.opts.ProbeTimeout)
	defer done()
	body, err := c.Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return "", err
	}
	var info apiversion.Info
	if err := json.Unmarshal(body, &info); err != nil {
		return "", fmt.Errorf("not a Kubernetes API server: /version is not JSON: %w", err)
	}
	return info.GitVersion, nil
}

func (p *Provider) answered(name multicluster.ClusterName, version string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.health[name]
	h.State, h.Message, h.Failures = Ready, "", 0
	h.LastAnswer, h.ServerVersion = p.opts.Clock.Now(), version
	p.health[name] = h
}

func (p *Provider) failed(name multicluster.ClusterName, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, now := p.health[name], p.opts.Clock.Now()
	// The errors of a member that stays away may take turns; one of them will do for a while (law 18).
	if state := stateOf(err); h.State != state || h.Message == "" || now.Sub(h.said) >= seenPace {
		h.State, h.Message, h.said = state, words(err), now
	}
	h.Failures++
	p.health[name] = h
}

// localEnd is our end of a connection, whose port is another each time.
var localEnd = regexp.MustCompile(`(\S+:\d+)->(\S+:\d+)`)

// words are an error without what is another each time although the error is the same: a message that changes is a status
// that is written, there and on every object that repeats it (law 18).
func words(err error) string { return localEnd.ReplaceAllString(err.Error(), "$2") }

func stateOf(err error) State {
	switch {
	case apierrors.IsUnauthorized(err), apierrors.IsForbidden(err):
		return Unauthorized
	case meta.IsNoMatchError(err):
		return APIMissing
	default:
		return Unreachable
	}
}

func (p *Provider) watchFailed(name multicluster.ClusterName, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.health[name]
	h.lastWatchError = err.Error()
	p.health[name] = h
}

func (p *Provider) lastWatchError(name multicluster.ClusterName) string {
	if text := p.Health(name).lastWatchError; text != "" {
		return ": " + text
	}
	return ""
}
