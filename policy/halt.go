// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-dev/windlass/policy/version"
)

// halt makes the standing of a rollout that stops now: what happened, what was not touched, what one may do.
func (b *board) halt(reason, format string, args ...any) *standing {
	return &standing{PhaseHalted, reason, fmt.Sprintf("%s; %d other clusters were not touched; a new target starts a new "+
		"rollout", fmt.Sprintf(format, args...), b.untouched)}
}

// canaryLost halts when a canary failed, turned out ineligible or is gone: a canary is never passed over (law 7).
func canaryLost(b *board) *standing {
	for i := range b.Clusters {
		c := &b.Clusters[i]
		if !b.canary(c) {
			continue
		}
		switch c.Phase {
		case Removed:
			return b.halt(ReasonCanaryRemoved, "canary %s is gone", c.Path)
		case Failed, Ineligible:
			return b.halt(ReasonCanaryFailed, "canary %s failed: %s", c.Path, c.lastWords())
		case Pending, Progressing, Verifying, Holding, Succeeded, Deferred, Skipped:
		}
	}
	return nil
}

// overBudget halts when more clusters of a wave failed than it allows (law 6).
func overBudget(b *board) *standing {
	for i := range b.Waves {
		wave := &b.Waves[i]
		if b.tallies[i].failed <= wave.MaxFailures {
			continue
		}
		var failed []string
		last := ""
		for k := range b.Clusters {
			if c := &b.Clusters[k]; b.wave[k] == i && c.Phase == Failed {
				failed = append(failed, c.Path)
				last = c.lastWords()
			}
		}
		return b.halt(ReasonFailureBudgetExceeded, "wave %s: %d failed, %d may: %s; the last said: %s", wave.Name,
			len(failed), wave.MaxFailures, list(failed), last)
	}
	return nil
}

// nothingProven halts when the current wave has ended without one success (law 15). While clusters of it are put off
// it is waited for these (see stuck).
func nothingProven(b *board) *standing {
	if b.current == len(b.Waves) || b.current == b.catchUp || !b.ended(b.current) {
		return nil
	}
	t := &b.tallies[b.current]
	if t.clusters == 0 || t.succeeded+t.deferred+t.pending > 0 {
		return nil
	}
	return b.halt(ReasonNothingProven, "wave %s ended without a success: %d failed, %d left out", b.Waves[b.current].Name,
		t.failed, t.skipped+t.gone)
}

// targetMoved halts when a cluster ended on a version that no canary proved for its architecture: the name is the
// same, what it stands for is not (law 7).
func targetMoved(b *board) *standing {
	if !b.HasCanaries || !b.OnMovedHalt {
		return nil
	}
	canaries := map[string]*Cluster{}
	var architectures []string
	for i := range b.Clusters {
		c := &b.Clusters[i]
		if c.Phase != Succeeded {
			continue
		}
		architectures = slices.AppendSeq(architectures[:0], maps.Keys(c.Versions))
		slices.Sort(architectures)
		for _, architecture := range architectures {
			var moved *standing
			if b.canary(c) {
				moved = b.disagrees(c, architecture, canaries)
			} else {
				moved = b.unproven(c, architecture)
			}
			if moved != nil {
				return moved
			}
		}
	}
	return nil
}

// disagrees compares a canary with the first that reached a version on this architecture.
func (b *board) disagrees(c *Cluster, architecture string, first map[string]*Cluster) *standing {
	earlier, found := first[architecture]
	if !found {
		first[architecture] = c
		return nil
	}
	if same(earlier.Versions[architecture], c.Versions[architecture]) {
		return nil
	}
	return b.halt(ReasonTargetMoved, "canaries disagree on %s: %s reached %s, %s reached %s", architecture, earlier.Path,
		earlier.Versions[architecture], c.Path, c.Versions[architecture])
}

// unproven compares a cluster with what the canaries proved.
func (b *board) unproven(c *Cluster, architecture string) *standing {
	reached, proven := c.Versions[architecture], b.proven[architecture]
	switch {
	case proven == "":
		return b.halt(ReasonTargetMoved, "%s reached %s on %s, and no canary proved a version there", c.Path, reached,
			architecture)
	case !same(proven, reached):
		return b.halt(ReasonTargetMoved, "%s reached %s on %s, and the canaries proved %s", c.Path, reached, architecture,
			proven)
	}
	return nil
}

// same spares most clusters the reading of their version.
func same(a, b string) bool { return a == b || version.Same(a, b) }

// prove is what the canaries prove: nothing new until all have ended well; then the newest version each architecture
// reached. What is stored stays for architectures that no upgraded canary is of.
func (b *board) prove() map[string]string {
	proven := maps.Clone(b.Proven)
	reached := map[string]string{}
	for i := range b.Waves {
		if !b.Waves[i].Canary || i >= b.current {
			continue
		}
		for k := range b.Clusters {
			c := &b.Clusters[k]
			if c.Wave != i || c.Phase != Succeeded {
				continue
			}
			for architecture, kubelet := range c.Versions {
				if kubelet != reached[architecture] && version.Newer(kubelet, reached[architecture]) {
					reached[architecture] = kubelet
				}
			}
		}
	}
	if len(reached) == 0 {
		return proven
	}
	if proven == nil {
		return reached
	}
	maps.Copy(proven, reached)
	return proven
}

func (b *board) canary(c *Cluster) bool {
	return c.Wave >= 0 && c.Wave < len(b.Waves) && b.Waves[c.Wave].Canary
}

// lastWords is the most telling text about how a cluster ended.
func (c *Cluster) lastWords() string {
	for _, text := range []string{c.LastError, c.Message, c.Reason} {
		if text != "" {
			return text
		}
	}
	return "no word of why"
}
