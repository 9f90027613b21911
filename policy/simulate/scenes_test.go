// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"maps"
	"time"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
	"github.com/windlass-dev/windlass/policy/window"
)

// scenes by the name of their golden file.
func scenes() map[string]scene {
	all := map[string]scene{}
	for _, some := range []map[string]scene{waveScenes(), failureScenes(), windowScenes(), memberScenes(), peopleScenes()} {
		maps.Copy(all, some)
	}
	return all
}

// six are a canary, a wave of two, one at a time, and a wave of three, two at a time.
func six() *story {
	return tell().canaries("eu/shop/1").
		wave(policy.Wave{Name: "early", MaxConcurrency: 1}, "us/shop/1", "eu/shop/2").
		wave(policy.Wave{Name: "rest", MaxConcurrency: 2, MaxFailures: 1}, "us/shop/2", "eu/shop/3", "us/shop/3").
		catchUp()
}

const aboutSix = `Six clusters in two management clusters, eu and us; each has three control plane machines and two workers, and every
machine takes 20 minutes. The canary goes first; wave early goes one at a time and may have no failure; wave rest goes
two at a time and may have one.`

func waveScenes() map[string]scene {
	return map[string]scene{
		"canary-and-two-waves": {
			title: "The canary proves the target, then two waves follow", about: aboutSix, end: "Succeeded",
			tell: func() []*story { return alone(six()) },
		},
		"limits-per-site": {
			title: "C050: limits hold for management clusters and sites, and not only for the wave",
			about: `Six clusters at two sites; the wave allows five at a time, a site two, the management cluster us one.`,
			end:   "Succeeded",
			tell: func() []*story {
				s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 5}, "us/shop/1", "eu/shop/1", "us/shop/2",
					"eu/shop/2", "eu/shop/3", "eu/shop/4").catchUp()
				return alone(s.set(func(f *policy.Fleet) {
					f.Members["us"] = policy.Member{Ready: true, Upgrade: true, MaxConcurrentClusters: 1}
					f.Limits = []policy.Limit{{Label: "site", Max: 2}}
					sites := []string{"north", "north", "south", "north", "south", "south"}
					for i := range f.Clusters {
						f.Clusters[i].Groups = []string{sites[i]}
					}
				}))
			},
		},
		"deadline-passes-and-the-next-wave-has-its-own": {
			title: "C068: a wave runs out of time, and the next one has all of its own",
			about: `Each wave has two hours. Machines of eu/shop/2 take an hour. When wave one's time is over, eu/shop/3, which has not
begun, goes to catch-up; eu/shop/2, which is in flight, goes on and counts. Wave two's two hours begin with its own first
cluster.`,
			end: "Succeeded",
			tell: func() []*story {
				one := policy.Wave{Name: "one", MaxConcurrency: 1, Deadline: 2 * time.Hour, DeadlineContinue: true}
				two := one
				two.Name, two.MaxConcurrency = "two", 2
				s := tell().wave(one, "eu/shop/1", "eu/shop/2", "eu/shop/3").wave(two, "us/shop/1").catchUp()
				return alone(s.then(simulate.Event{
					At: at("01 19:00"), Kind: simulate.ClusterSlow, Cluster: "eu/shop/2", Takes: time.Hour,
				}))
			},
		},
		"the-channel-moves": {
			title: "The channel holds something else than what the canary proved",
			about: aboutSix,
			end:   "Halted(TargetMoved)",
			tell: func() []*story {
				return alone(six().then(simulate.Event{
					At: at("01 22:00"), Kind: simulate.TargetMoves, Version: "v1.33.10",
				}))
			},
		},
		"label-flaps-a-leaver-and-a-late-joiner": {
			title: "C061: membership is a snapshot: a flapping label, a leaver, a late joiner",
			about: aboutSix,
			end:   "Succeeded",
			tell: func() []*story {
				late := cluster("eu/shop/9")
				return alone(six().then(
					simulate.Event{At: at("01 22:00"), Kind: simulate.LabelFlaps, Cluster: "us/shop/2"},
					simulate.Event{At: at("01 22:30"), Kind: simulate.ClusterLeaves, Cluster: "us/shop/3"},
					simulate.Event{At: at("01 23:00"), Kind: simulate.ClusterJoins, Join: &late},
				))
			},
		},
		"two-policies-want-one-cluster": {
			title: "Two policies want one cluster: the one of higher priority has it first",
			about: `Policy security has priority 10 and begins half an hour later, policy routine has priority 0. Both want us/shop/1.
The two share nothing else; each may have its own in flight.`,
			end:  "Succeeded",
			tell: rivals,
		},
	}
}

func rivals() []*story {
	routine := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 2}, "eu/shop/1", "eu/shop/2", "us/shop/1").catchUp()
	routine.Name = "routine"
	security := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 1}, "us/shop/2", "us/shop/1").catchUp()
	security.Name, security.Priority, security.From = "security", 10, at("01 20:30")
	return []*story{routine, security}
}

func failureScenes() map[string]scene {
	return map[string]scene{
		"canary-fails": {
			title: "C066: the canary fails, and no other cluster is touched", about: aboutSix, end: "Halted(CanaryFailed)",
			tell: func() []*story {
				return alone(six().then(simulate.Event{
					At: at("01 20:30"), Kind: simulate.MachineFails, Cluster: "eu/shop/1",
				}))
			},
		},
		"canary-times-out": {
			title: "C066: the canary is not through in time, and the message says so",
			about: `The canary has 30 minutes, and its machine takes forever; other deadlines are further off.`,
			end:   "Halted(CanaryTimedOut)",
			tell: func() []*story {
				s := six().set(func(f *policy.Fleet) {
					f.Waves[0].Deadline, f.Waves[1].Deadline = 30*time.Minute, 4*time.Hour
				})
				return alone(s.then(simulate.Event{
					At: at("01 19:00"), Kind: simulate.ClusterSlow, Cluster: "eu/shop/1", Takes: 6 * time.Hour,
				}))
			},
		},
		"budget-exceeded": {
			title: "C058: two failures where one may be: what is in flight finishes, the rest is not touched",
			about: `Ten clusters, two at a time, one may fail. The second and the fifth do. Machines of the fifth take 25 minutes.`,
			end:   "Halted(FailureBudgetExceeded)",
			tell: func() []*story {
				var paths []string
				for _, n := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"} {
					paths = append(paths, "eu/shop/"+n)
				}
				s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 2, MaxFailures: 1}, paths...).catchUp()
				s.Machines = true
				return alone(s.then(
					simulate.Event{At: at("01 19:00"), Kind: simulate.ClusterSlow, Cluster: "eu/shop/5", Takes: 25 * time.Minute},
					simulate.Event{At: at("01 20:10"), Kind: simulate.MachineFails, Cluster: "eu/shop/2"},
					simulate.Event{At: at("01 22:10"), Kind: simulate.MachineFails, Cluster: "eu/shop/5"},
				))
			},
		},
		"budget-reserved": {
			title: "The budget is reserved: what is in flight counts as if it would fail",
			about: `Five clusters, three at a time, two may fail, and the budget is reserved: two go at once, and when one has failed,
one at a time.`,
			end: "CompletedWithFailures(FailuresWithinBudget)",
			tell: func() []*story {
				s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 3, MaxFailures: 2},
					"eu/shop/1", "eu/shop/2", "eu/shop/3", "eu/shop/4", "eu/shop/5").catchUp()
				return alone(s.set(func(f *policy.Fleet) { f.ReserveBudget = true }).then(
					simulate.Event{At: at("01 20:10"), Kind: simulate.MachineFails, Cluster: "eu/shop/2"},
				))
			},
		},
		"a-sick-node-resets-the-soak": {
			title: "C060: a node falls ill while the wave soaks, and the soak begins anew",
			about: `The canary soaks for 30 minutes; after twelve a node of it is not ready for five minutes.`,
			end:   "Succeeded",
			tell: func() []*story {
				s := six().set(func(f *policy.Fleet) { f.Waves[0].Soak = 30 * time.Minute })
				return alone(s.then(
					simulate.Event{At: at("01 21:52"), Kind: simulate.ClusterSick, Cluster: "eu/shop/1"},
					simulate.Event{At: at("01 21:57"), Kind: simulate.ClusterWell, Cluster: "eu/shop/1"},
				))
			},
		},
	}
}

func windowScenes() map[string]scene {
	return map[string]scene{
		"the-window-closes-at-a-machine-boundary": {
			title: "The window closes at a machine boundary, and the next night goes on",
			about: `Nights in Berlin from 22:00, for an hour: 21:00 to 22:00 UTC. Every machine takes 20 minutes, so three fit. What has
begun keeps its slot over the day.`,
			end: "Succeeded",
			tell: func() []*story {
				s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 1}, "eu/shop/1", "eu/shop/2").catchUp().
					hours("nights", nightly("Europe/Berlin", time.Hour))
				s.Machines = true
				return alone(s)
			},
		},
		"one-calendar-in-two-zones": {
			title: "One calendar, the local night of each cluster",
			about: `The calendar takes the time zone of the cluster: 22:00 to 02:00 in Berlin is 21:00 to 01:00 UTC, in New York 03:00 to
07:00. The first wave has clusters in both, two at a time.`,
			end: "Succeeded",
			tell: func() []*story {
				return alone(tell().wave(policy.Wave{Name: "all", MaxConcurrency: 2}, "eu/shop/1", "us/shop/1", "eu/shop/2",
					"us/shop/2", "us/shop/3").catchUp().
					hours("nights Europe/Berlin", nightly("Europe/Berlin", 4*time.Hour), "eu/shop/1", "eu/shop/2").
					hours("nights America/New_York", nightly("America/New_York", 4*time.Hour), "us/shop/1", "us/shop/2",
						"us/shop/3"))
			},
		},
		"holiday-freeze": {
			title: "A holiday freeze: what would not be done before it is not begun",
			about: `Nights from 22:00 to 02:00 UTC. A freeze of everything from the 2nd at 23:00 until the 4th at 12:00 is known from the
start. A cluster takes 1h40m.`,
			end: "Succeeded",
			tell: func() []*story {
				s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 1}, "eu/shop/1", "us/shop/1", "eu/shop/2", "us/shop/2").
					catchUp().hours("nights", nightly("UTC", 4*time.Hour))
				return alone(s.then(simulate.Event{
					At: at("01 19:00"), Kind: simulate.Frozen, Name: "holidays", By: "joe", From: at("02 23:00"), Until: at("04 12:00"),
					Text: "shops are busy",
				}))
			},
		},
		"a-window-is-missed": {
			title: "C041: the opening passes while an earlier wave is not complete, and that is said once",
			about: `Saturdays from 02:00 to 06:00 UTC for wave two. The cluster of wave one is driven by another hub until the
opening is over. Nothing begins late; it goes on the next Saturday.`,
			end: "Succeeded",
			tell: func() []*story {
				s := tell().wave(policy.Wave{Name: "one", MaxConcurrency: 1}, "eu/shop/1").
					wave(policy.Wave{Name: "two", MaxConcurrency: 2}, "us/shop/1", "us/shop/2").catchUp()
				s.From = at("04 20:00")
				return alone(s.hours("saturdays", weekly(4*time.Hour), "us/shop/1", "us/shop/2").then(
					simulate.Event{At: at("04 19:00"), Kind: simulate.ClusterClaimed, Cluster: "eu/shop/1"},
					simulate.Event{At: at("05 07:00"), Kind: simulate.ClusterFreed, Cluster: "eu/shop/1"},
				))
			},
		},
		"a-weekly-window-works-more-than-once": {
			title: "C018: a weekly window works every week, and what is left goes on in the next",
			about: `Saturdays from 02:00 for an hour, UTC. One cluster takes an hour, so each week has its cluster. The hub restarts in
between.`,
			end: "Succeeded",
			tell: func() []*story {
				s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 1}, "eu/shop/1", "eu/shop/2", "eu/shop/3").catchUp().
					hours("saturdays", weekly(time.Hour)).each(func(c *policy.Cluster) {
					c.Work = []policy.Work{{Machines: 3, AtOnce: 1, Each: 20 * time.Minute}}
				})
				return alone(s.then(
					simulate.Event{At: at("06 12:00"), Kind: simulate.HubDown}, simulate.Event{At: at("06 12:05"), Kind: simulate.HubBack},
				))
			},
		},
	}
}

// weekly is open on Saturdays from 02:00 UTC on.
func weekly(duration time.Duration) window.Spec {
	return window.Spec{Windows: []window.Recurrence{{Schedule: "0 2 * * 6", Duration: duration}}}
}

func memberScenes() map[string]scene {
	return map[string]scene{
		"a-member-is-dead-before-its-turn": {
			title: "A management cluster is silent when its turn comes: no other waits for it, catch-up does it later",
			about: aboutSix + " us falls silent during the canary.",
			end:   "Succeeded",
			tell: func() []*story {
				return alone(six().then(
					simulate.Event{At: at("01 21:00"), Kind: simulate.MemberSilent, Member: "us"},
					simulate.Event{At: at("02 08:00"), Kind: simulate.MemberBack, Member: "us"},
				))
			},
		},
		"a-member-falls-silent-in-flight": {
			title: "A management cluster falls silent in flight: after ten minutes its slot is given back, later it goes on",
			about: `Four clusters, one at a time. us falls silent while us/shop/1 is at work; machines there go on until the permission
that they have, an hour, is over. At most one cluster in flight may be out of sight.`,
			end: "Succeeded",
			tell: func() []*story {
				s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 1}, "us/shop/1", "eu/shop/1", "eu/shop/2", "us/shop/2").
					catchUp().set(func(f *policy.Fleet) {
					f.Unreachable = policy.Unreachable{Grace: 10 * time.Minute, MaxUnknown: 1}
				})
				s.Machines = true
				return alone(s.then(
					simulate.Event{At: at("01 20:30"), Kind: simulate.MemberSilent, Member: "us"},
					simulate.Event{At: at("01 23:00"), Kind: simulate.MemberBack, Member: "us"},
				))
			},
		},
		"the-hub-is-cut-off": {
			title: "Both management clusters fall silent at once: the hub takes itself for cut off",
			about: aboutSix,
			end:   "Succeeded",
			tell: func() []*story {
				s := six().set(func(f *policy.Fleet) {
					f.Unreachable = policy.Unreachable{Grace: 10 * time.Minute, MaxUnknown: -1}
				})
				return alone(s.then(
					simulate.Event{At: at("01 22:00"), Kind: simulate.MemberSilent, Member: "eu"},
					simulate.Event{At: at("01 22:02"), Kind: simulate.MemberSilent, Member: "us"},
					simulate.Event{At: at("01 23:30"), Kind: simulate.MemberBack, Member: "eu"},
					simulate.Event{At: at("01 23:31"), Kind: simulate.MemberBack, Member: "us"},
				))
			},
		},
		"the-hub-restarts-mid-wave": {
			title: "C050: the hub restarts in the middle of a wave, and starts nothing twice",
			about: `Four clusters, two at a time. The hub is away for two hours; machines go on until their permission, an hour, is over.`,
			end:   "Succeeded",
			tell: func() []*story {
				s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 2}, "eu/shop/1", "us/shop/1", "eu/shop/2", "us/shop/2").
					catchUp()
				s.Machines = true
				return alone(s.then(
					simulate.Event{At: at("01 20:10"), Kind: simulate.HubDown}, simulate.Event{At: at("01 22:10"), Kind: simulate.HubBack},
				))
			},
		},
	}
}

func peopleScenes() map[string]scene {
	return map[string]scene{
		"approval-given-expired-rejected": {
			title: "A wave needs two approvals: one's own does not count, one expires, one says no and thinks again",
			about: `Wave rest needs the word of two people besides ann, who asked for the change. Approvals are looked at before every
start.`,
			end: "Succeeded",
			tell: func() []*story {
				s := six().set(func(f *policy.Fleet) { f.Waves[2].Approvals, f.RequestedBy = 2, "ann" })
				return alone(s.then(
					approval("01 21:00", "ann", ""), approval("01 22:00", "bob", "02 02:00"), approval("02 01:30", "cid", ""),
					simulate.Event{
						At: at("02 02:30"), Kind: simulate.Rejected, Name: "cid-2", By: "cid", Wave: "rest", Text: "the till is down",
					},
					approval("02 04:00", "bob", ""), approval("02 06:00", "cid", ""),
				))
			},
		},
		"the-owner-puts-it-off": {
			title: "C155: an owner puts the next maintenance off: the wave is complete without it, catch-up does it",
			about: `Nights from 22:00 to 02:00 UTC. The owner of eu/shop/3 puts it off until noon of the 2nd.`,
			end:   "Succeeded",
			tell: func() []*story {
				s := tell().wave(policy.Wave{Name: "all", MaxConcurrency: 2}, "eu/shop/1", "eu/shop/2", "eu/shop/3").catchUp().
					hours("nights", nightly("UTC", 4*time.Hour))
				return alone(s.then(simulate.Event{
					At: at("01 19:00"), Kind: simulate.OwnerDefers, Cluster: "eu/shop/3", Until: at("02 12:00"), Text: "quarter's end",
				}))
			},
		},
		"a-pause-holds-what-is-in-flight": {
			title: "The policy is paused: the machine at work finishes, and nothing else begins until it is lifted",
			about: aboutSix,
			end:   "Succeeded",
			tell: func() []*story {
				return alone(six().then(
					simulate.Event{At: at("01 22:10"), Kind: simulate.PolicyPaused, Text: "incident 7"},
					simulate.Event{At: at("02 08:00"), Kind: simulate.PolicyResumed},
				))
			},
		},
	}
}

func approval(when, by, until string) simulate.Event {
	e := simulate.Event{At: at(when), Kind: simulate.Approved, Name: by + "-" + when, By: by, Wave: "rest"}
	if until != "" {
		e.Until = at(until)
	}
	return e
}
