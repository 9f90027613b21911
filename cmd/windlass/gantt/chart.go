// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package gantt draws when clusters are upgraded: a row for each, time from left to right. The same chart always gives
// the same bytes.
package gantt

import (
	"time"

	"github.com/windlass-dev/windlass/policy/window"
)

// Chart is what to draw.
type Chart struct {
	// Title and Subtitle stand above.
	Title, Subtitle string
	// Span of time that is shown. Bars and hours outside are cut.
	Span window.Span
	// Zone of the days; nil: UTC.
	Zone *time.Location
	// Groups of rows, from top to bottom.
	Groups []Group
	// Stops are spans of time in which nothing may begin, over all rows, with what they are called.
	Stops []Stop
}

// Group is a wave.
type Group struct {
	// Name and Note stand at its left.
	Name, Note string
	// Rows, from top to bottom.
	Rows []Row
}

// Row is a cluster.
type Row struct {
	// Label of the row; shown where there is room, and when a bar is pointed at.
	Label string
	// Part of the group that it is in; the first row of a part names it, where rows have no labels of their own.
	Part string
	// Hours are when its calendars are open; nil: always. Rows that follow each other with the same Key share them.
	Hours []window.Span
	Key   string
	// Bars are when machines were at work.
	Bars []Bar
}

// Bar is a piece of work.
type Bar struct {
	Span window.Span
	Kind Kind
}

// Kind is how a bar ended; it chooses the colour.
type Kind string

// The kinds of bars.
const (
	// Done: the cluster succeeded.
	Done Kind = "done"
	// Begun: it has begun and not ended.
	Begun Kind = "begun"
	// Failed: it failed.
	Failed Kind = "failed"
	// PutOff: it was deferred; drawn where its turn came.
	PutOff Kind = "put off"
)

// Stop is a time in which nothing may begin.
type Stop struct {
	Span window.Span
	Name string
}
