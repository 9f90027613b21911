// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"

	"github.com/windlass-dev/windlass/cmd/windlass/report"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// clustersShown bounds the bars of clusters: more do not fit on a screen.
const clustersShown = 12

// bars draws progress bars: the fleet, each wave, each cluster at work. Changes scroll by above them.
type bars struct {
	writer progress.Writer
	// drawn by name.
	drawn map[string]*progress.Tracker
	ended chan struct{}
}

func newBars(out io.Writer) *bars {
	w := progress.NewWriter()
	w.SetOutputWriter(out)
	w.SetAutoStop(false)
	w.SetTrackerLength(24)
	w.SetTrackerPosition(progress.PositionLeft)
	w.SetUpdateFrequency(2 * gather)
	w.SetSortBy(progress.SortByIndex)
	style := progress.StyleBlocks
	style.Options.Separator = "  "
	style.Options.PercentFormat = "%4.0f%%"
	style.Visibility.Value, style.Visibility.Time = false, false
	w.SetStyle(style)
	b := &bars{writer: w, drawn: map[string]*progress.Tracker{}, ended: make(chan struct{})}
	// One bar is there from the first moment: without any the writer draws nothing, not even what scrolls by.
	b.draw(bar{name: "fleet", text: "fleet", of: 1})
	go func() {
		defer close(b.ended)
		w.Render()
	}()
	return b
}

// bar is one progress bar as it should be.
type bar struct {
	name, text string
	index      uint64
	done, of   int
}

func (b *bars) show(r report.Report, changes []report.Change) error {
	for _, c := range changes {
		if err := b.tell(c); err != nil {
			return err
		}
	}
	b.writer.SetPinnedMessages(headlines(r)...)
	wanted := barsOf(r)
	keep := map[string]bool{}
	for _, w := range wanted {
		keep[w.name] = true
		b.draw(w)
	}
	for name, tracker := range b.drawn {
		if !keep[name] {
			tracker.MarkAsDone()
			delete(b.drawn, name)
		}
	}
	return nil
}

// draw makes a bar or moves it. A bar leaves the screen only when it is not wanted any more.
func (b *bars) draw(w bar) {
	tracker, there := b.drawn[w.name]
	if !there {
		tracker = &progress.Tracker{
			Message: w.text, Total: int64(max(1, w.of)), Index: w.index, AutoStopDisabled: true, RemoveOnCompletion: true,
		}
		b.drawn[w.name] = tracker
		b.writer.AppendTracker(tracker)
	}
	tracker.UpdateTotal(int64(max(1, w.of)))
	tracker.SetValue(int64(min(w.done, max(1, w.of))))
	tracker.UpdateMessage(w.text)
}

// barsOf are the bars of a report, in order.
func barsOf(r report.Report) []bar {
	u := r.Fleet.Upgrades
	list := []bar{{name: "fleet", text: u.String(), done: u.Done, of: u.Total}}
	put := func(name, text string, done, of int) {
		list = append(list, bar{name: name, text: text, index: uint64(len(list)), done: done, of: of})
	}
	var working []report.Cluster
	for _, ro := range r.Rollouts {
		for _, w := range ro.Waves {
			name := ro.Name + "/" + w.Name
			put(name, fmt.Sprintf("wave %s %d/%d %s%s", w.Name, w.Succeeded, w.Planned, w.Phase, because(w.Why)), w.Succeeded,
				w.Planned)
			for _, c := range w.Clusters {
				if atWork(c) {
					working = append(working, c)
				}
			}
		}
	}
	for _, c := range working[:min(len(working), clustersShown)] {
		put(c.Namespace+"/"+c.Name, fmt.Sprintf("  %s cp %s workers %s %s%s", c.Name, c.ControlPlane, c.Workers, c.Machine,
			because(c.Why)), c.ControlPlane.Done+c.Workers.Done, c.ControlPlane.Total+c.Workers.Total)
	}
	return list
}

func atWork(c report.Cluster) bool {
	switch fleetv1.UpgradePhase(c.Phase) {
	case fleetv1.UpgradeProgressing, fleetv1.UpgradeVerifying, fleetv1.UpgradeHolding:
		return true
	case fleetv1.UpgradePending, fleetv1.UpgradeSucceeded, fleetv1.UpgradeFailed, fleetv1.UpgradeDeferred,
		fleetv1.UpgradeIneligible, fleetv1.UpgradeSkipped, fleetv1.UpgradeRemoved:
	}
	return false
}

func because(why *report.Why) string {
	switch {
	case why == nil:
		return ""
	case why.Until != "":
		return fmt.Sprintf(" (%s, until %s)", why.Reason, why.Until)
	}
	return fmt.Sprintf(" (%s)", why.Reason)
}

// headlines stand above the bars: how each rollout is, and what keeps it.
func headlines(r report.Report) []string {
	var list []string
	for _, ro := range r.Rollouts {
		list = append(list, fmt.Sprintf("rollout %s to %s: %s%s", ro.Name, ro.Target, ro.Phase, because(ro.Why)))
	}
	return list
}

func (b *bars) tell(c report.Change) error {
	b.writer.Log(c.String())
	return nil
}

// close draws a last time. Stop is asked again until the drawing has ended: a writer that has not begun forgets it.
func (b *bars) close() {
	again := time.NewTicker(gather)
	defer again.Stop()
	for {
		b.writer.Stop()
		select {
		case <-b.ended:
			return
		case <-again.C:
		}
	}
}
