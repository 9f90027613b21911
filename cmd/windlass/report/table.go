// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// none fills a cell that has nothing to say.
const none = "-"

// Table writes the report for people. Of one policy it names every cluster and machine; of all policies it names the
// clusters that move, failed or were put off, and counts the others. The errors are the writer's.
func (r Report) Table(w io.Writer) error {
	p := &page{report: r}
	p.head()
	p.managementClusters()
	p.policies()
	for _, ro := range r.Rollouts {
		p.rollout(ro)
	}
	if r.Policy == "" {
		p.others()
	}
	_, err := io.WriteString(w, p.text.String())
	return err
}

// page is a table being written.
type page struct {
	report Report
	text   strings.Builder
}

// printf writes a line.
func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.text, format+"\n", args...) }

// section writes a title and a grid of cells without lines, as kubectl does.
func (p *page) section(title string, header table.Row, rows []table.Row) {
	if len(rows) == 0 {
		return
	}
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "   "
	t.SetStyle(style)
	t.AppendHeader(header)
	t.AppendRows(rows)
	p.printf("\n%s", title)
	for line := range strings.Lines(t.Render()) {
		p.printf("%s", strings.TrimRight(line, " \n"))
	}
}

func (p *page) head() {
	r := p.report
	f, where := r.Fleet, "all namespaces"
	if r.Namespace != "" {
		where = "namespace " + r.Namespace
	}
	what := "all policies"
	if r.Policy != "" {
		what = "policy " + r.Policy
	}
	p.printf("Fleet report of %s, %s, at %s", what, where, r.Time.UTC().Format(time.RFC3339))
	p.printf("")
	p.printf("upgrades   %s", f.Upgrades)
	p.printf("clusters   %d in %d management clusters (%d reachable): %d healthy, %d unhealthy, %d unknown",
		f.WorkloadClusters, f.ManagementClusters, f.Reachable, f.Healthy, f.Unhealthy, f.Unknown)
	p.printf("machines   %d", f.Machines)
	p.printf("releases   %s", tally(f.ByRelease))
	p.printf("kubelets   %s", tally(f.ByKubelet))
}

// String is the upgrades in one line.
func (u Upgrades) String() string {
	return fmt.Sprintf("%d/%d clusters done, %d active, %d failed, %d deferred", u.Done, u.Total, u.Active, u.Failed,
		u.Deferred)
}

func (p *page) managementClusters() {
	var rows []table.Row
	for _, mc := range p.report.ManagementClusters {
		reason, _, _ := p.why(mc.Why)
		rows = append(rows, table.Row{
			p.report.name(mc.Namespace, mc.Name), mc.Engine, mc.Access, mc.Ready, reason, mc.Clusters, mc.Machines,
			p.age(mc.Seen),
		})
	}
	p.section("MANAGEMENT CLUSTERS", table.Row{"NAME", "ENGINE", "ACCESS", "READY", "WHY", "CLUSTERS", "MACHINES", "SEEN"},
		rows)
	for _, mc := range p.report.ManagementClusters {
		p.say("management cluster "+p.report.name(mc.Namespace, mc.Name), mc.Why)
	}
}

func (p *page) policies() {
	var rows []table.Row
	for _, o := range p.report.Policies {
		reason, since, _ := p.why(o.Why)
		rows = append(rows, table.Row{
			p.report.name(o.Namespace, o.Name), o.Target, o.Ready, reason, since, o.Paused, o.Selected, o.Canaries,
			cmp.Or(o.Rollout, none),
		})
	}
	p.section("POLICIES", table.Row{
		"NAME", "TARGET", "READY", "WHY", "SINCE", "PAUSED", "SELECTED", "CANARIES", "ROLLOUT",
	}, rows)
	for _, o := range p.report.Policies {
		p.say("policy "+p.report.name(o.Namespace, o.Name), o.Why)
	}
	if len(p.report.Policies)+len(p.report.Rollouts) == 0 {
		p.printf("\nNo RolloutPolicy is here: apply one, or look elsewhere with --namespace or --all-namespaces.")
	}
}

// say writes a reason and its message on lines of their own.
func (p *page) say(subject string, why *Why) {
	if why == nil || why.Message == "" {
		return
	}
	p.printf("  %s: %s: %s", subject, why.Reason, oneLine(why.Message))
}

// why splits a reason into cells: the reason, its age and its end.
func (p *page) why(why *Why) (reason, since, until string) {
	if why == nil {
		return none, none, none
	}
	return cmp.Or(why.Reason, none), p.age(why.Since), cmp.Or(why.Until, none)
}

func (p *page) age(t *metav1.Time) string {
	if t.IsZero() {
		return none
	}
	return duration.HumanDuration(max(0, p.report.Time.Sub(t.Time)))
}

func tally(counts []Count) string {
	parts := make([]string, 0, len(counts))
	for _, c := range counts {
		parts = append(parts, c.Name+" x "+strconv.Itoa(c.Count))
	}
	return cmp.Or(strings.Join(parts, ", "), none)
}
