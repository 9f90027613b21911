// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/cmd/windlass/report"
)

// line is the connection to the hub: whole while every kind is answered.
type line struct {
	mu     sync.Mutex
	broken map[client.Object]bool
	// states holds the newest change between whole and broken.
	states chan state
}

// state is how the connection is; why it is broken, if it is.
type state struct{ broken error }

func newLine() *line { return &line{broken: map[client.Object]bool{}, states: make(chan state, 1)} }

// heard notes the answer to a question about a kind. What a new list mends is no break, and neither is the end of the
// watch itself.
func (l *line) heard(ctx context.Context, kind client.Object, err error) {
	if ctx.Err() != nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.broken)
	if err != nil {
		l.broken[kind] = true
	} else {
		delete(l.broken, kind)
	}
	if (before == 0) == (len(l.broken) == 0) {
		return
	}
	select {
	case <-l.states:
	default:
	}
	l.states <- state{broken: err}
}

// change is the state of the connection as a line of the watch.
func (s state) change(now time.Time) report.Change {
	if s.broken == nil {
		return report.Change{Time: now, Subject: "hub", Phase: "Reachable", Why: "it answers again"}
	}
	why := s.broken
	if request, is := errors.AsType[*url.Error](why); is {
		// The address says nothing that the cause does not, and is long.
		why = request.Err
	}
	return report.Change{Time: now, Subject: "hub", Phase: "Unreachable", Why: "trying again: " + why.Error()}
}
