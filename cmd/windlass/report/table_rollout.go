// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

func (p *page) rollout(ro Rollout) {
	reason, since, until := p.why(ro.Why)
	name := p.report.name(ro.Namespace, ro.Name)
	p.section("ROLLOUT "+name, table.Row{
		"PHASE", "TARGET", "VERSION", "WAVE", "DONE", "ACTIVE", "FAILED", "DEFERRED", "WHY", "SINCE", "UNTIL",
	}, []table.Row{{
		ro.Phase, ro.Target, cmp.Or(ro.Version, none), cmp.Or(ro.Wave, none),
		Ratio{ro.Upgrades.Done, ro.Upgrades.Total},
		ro.Upgrades.Active, ro.Upgrades.Failed, ro.Upgrades.Deferred,
		reason, since, until,
	}})
	p.say("rollout "+name, ro.Why)
	if plan := ro.Plan; plan != nil {
		p.printf("  plan: %d clusters to upgrade (%d within their minor, %d to another); %d at the target already, "+
			"%d ineligible", plan.Total, plan.Patch, plan.Minor, plan.AtTarget, plan.Ineligible)
	}
	for _, v := range ro.Proven {
		p.printf("  proven by canaries: %s on %s", v.Version, v.Architecture)
	}
	p.waves(ro)
	p.clusters(ro)
	if p.report.Policy != "" {
		p.machines(ro)
	}
}

func (p *page) waves(ro Rollout) {
	var rows []table.Row
	for _, w := range ro.Waves {
		reason, since, until := p.why(w.Why)
		rows = append(rows, table.Row{
			w.Name, w.Phase,
			Ratio{w.Succeeded, w.Planned},
			w.Active, w.Failed, w.Pending, w.Skipped, w.Deferred,
			w.MaxConcurrency, w.MaxFailures, reason, since, until,
		})
	}
	p.section("WAVES", table.Row{
		"WAVE", "PHASE", "DONE", "ACTIVE", "FAILED", "PENDING", "SKIPPED", "DEFERRED", "MAX-CONCURRENCY",
		"MAX-FAILURES", "WHY", "SINCE", "UNTIL",
	}, rows)
	for _, w := range ro.Waves {
		if w.Why != nil && w.Why.Of == "" && (ro.Why == nil || w.Why.Message != ro.Why.Message) {
			p.say("wave "+w.Name, w.Why)
		}
	}
}

func (p *page) clusters(ro Rollout) {
	var rows []table.Row
	var shown []Cluster
	for _, w := range ro.Waves {
		for _, c := range w.Clusters {
			if p.report.Policy == "" && c.quiet() {
				continue
			}
			shown = append(shown, c)
			reason, since, until := p.why(c.Why)
			rows = append(rows, table.Row{
				p.report.name(c.Namespace, c.Name), c.Wave, c.Phase, c.ControlPlane, c.Workers,
				tries(c.Attempts, c.MaxAttempts), c.Healthy, reason, since, until, cmp.Or(c.Machine, none),
			})
		}
	}
	title := "CLUSTERS"
	if p.report.Policy == "" {
		title = "CLUSTERS AT WORK, HELD UP, FAILED OR PUT OFF"
	}
	p.section(title, table.Row{
		"CLUSTER", "WAVE", "PHASE", "CP", "WORKERS", "TRIES", "HEALTHY", "WHY", "SINCE", "UNTIL", "MACHINE",
	}, rows)
	for _, c := range shown {
		p.clusterSays(c)
	}
}

// clusterSays writes what a cluster has to say for itself, and how old that is where its member does not answer.
func (p *page) clusterSays(c Cluster) {
	name := p.report.name(c.Namespace, c.Name)
	settled := c.Phase == string(fleetv1.UpgradeSucceeded)
	if !c.turn() && !settled {
		p.say(name, c.Why)
	}
	if c.LastError != "" && !settled {
		p.printf("  %s: last error of %s: %s", name, cmp.Or(c.Machine, "a machine"), oneLine(c.LastError))
	}
	if c.Reachable != "True" {
		p.printf("  %s: shown as last seen: %s", name, p.silence(c))
	}
}

// silence says since when a cluster's member has not answered.
func (p *page) silence(c Cluster) string {
	at := slices.IndexFunc(p.report.ManagementClusters, func(mc ManagementCluster) bool {
		return mc.Namespace == c.Namespace && mc.Name == c.ManagementCluster
	})
	if at < 0 {
		return "management cluster " + c.ManagementCluster + " is not registered"
	}
	mc := p.report.ManagementClusters[at]
	text := "management cluster " + mc.Name + " does not answer"
	if !mc.Seen.IsZero() {
		text += ", last answer " + p.age(mc.Seen) + " ago"
	}
	return text
}

func (p *page) machines(ro Rollout) {
	var rows []table.Row
	for _, w := range ro.Waves {
		for _, c := range w.Clusters {
			for _, m := range c.Machines {
				rows = append(rows, table.Row{
					p.report.name(c.Namespace, c.Name), m.Name, m.Owner, cmp.Or(m.Release, "unknown"), cmp.Or(m.Kubelet, "unknown"),
					cmp.Or(m.Architecture, "unknown"), m.State, tries(m.Attempts, c.MaxAttempts),
				})
			}
			rows = append(rows, p.leftOff(c)...)
		}
	}
	p.section("MACHINES", table.Row{"CLUSTER", "MACHINE", "OWNER", "RELEASE", "KUBELET", "ARCH", "STATE", "TRIES"}, rows)
	for _, w := range ro.Waves {
		for _, c := range w.Clusters {
			for _, m := range c.Machines {
				if m.LastError != "" && m.State != MachineDone && m.LastError != c.LastError {
					p.printf("  %s: %s: last error: %s", p.report.name(c.Namespace, c.Name), m.Name, oneLine(m.LastError))
				}
			}
		}
	}
}

// leftOff counts by owner the machines of a cluster that are not all known one by one.
func (p *page) leftOff(c Cluster) []table.Row {
	if c.MachinesLeftOff == 0 {
		return nil
	}
	var rows []table.Row
	for _, o := range c.Owners {
		rows = append(rows, table.Row{
			p.report.name(c.Namespace, c.Name), fmt.Sprintf("(%d in all)", o.Total), o.Name,
			tally(o.ByRelease), tally(o.ByKubelet), none, none, none,
		})
	}
	return rows
}

// others sums up the clusters in no rollout.
func (p *page) others() {
	var rows []table.Row
	for _, c := range p.report.OtherClusters {
		var releases, kubelets []Count
		total := 0
		for _, o := range c.Owners {
			total += o.Total
			releases, kubelets = append(releases, o.ByRelease...), append(kubelets, o.ByKubelet...)
		}
		rows = append(rows, table.Row{
			p.report.name(c.Namespace, c.Name), c.Healthy, total, tally(merge(releases)), tally(merge(kubelets)),
		})
	}
	p.section("CLUSTERS IN NO ROLLOUT", table.Row{"CLUSTER", "HEALTHY", "MACHINES", "RELEASES", "KUBELETS"}, rows)
}

func merge(counts []Count) []Count {
	all := map[string]int{}
	add(all, counts)
	return ranked(all)
}

func tries(attempts, of int) string {
	if attempts == 0 {
		return none
	}
	return fmt.Sprintf("%d/%d", attempts, of)
}
