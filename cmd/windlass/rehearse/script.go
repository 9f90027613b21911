// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
)

// happening is an event as a file has it: durations are written like those of a policy.
type happening struct {
	At           metav1.Time        `json:"at"`
	Kind         simulate.EventKind `json:"kind"`
	Cluster      string             `json:"cluster,omitempty"`
	Member       string             `json:"member,omitempty"`
	Wave         string             `json:"wave,omitempty"`
	Name         string             `json:"name,omitempty"`
	By           string             `json:"by,omitempty"`
	Text         string             `json:"text,omitempty"`
	From         metav1.Time        `json:"from,omitzero"`
	Until        metav1.Time        `json:"until,omitzero"`
	Takes        metav1.Duration    `json:"takes,omitzero"`
	NewClusters  bool               `json:"newClustersOnly,omitempty"`
	Version      string             `json:"version,omitempty"`
	Architecture string             `json:"architecture,omitempty"`
}

// Script reads what befalls the world from a YAML file: a list of events. The error names the event, its field and an
// accepted form; a cluster or member that the rehearsal does not have is an error, too.
func (r *Rehearsal) Script(path string) ([]simulate.Event, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []happening
	if err := yaml.UnmarshalStrict(data, &list); err != nil {
		return nil, fmt.Errorf("%s: %w; accepted: a list such as [{at: 2026-12-07T18:00:00Z, kind: MemberSilent, member: mgmt-a}]",
			path, err)
	}
	var script []simulate.Event
	for i, h := range list {
		if err := r.fits(h); err != nil {
			return nil, fmt.Errorf("%s: event %d: %w", path, i+1, err)
		}
		script = append(script, simulate.Event{
			At: h.At.UTC(), Kind: h.Kind, Cluster: h.Cluster, Member: h.Member, Wave: h.Wave, Name: h.Name, By: h.By, Text: h.Text,
			From: utc(h.From), Until: utc(h.Until), Takes: h.Takes.Duration, NewClustersOnly: h.NewClusters, Version: h.Version, Architecture: h.Architecture,
		})
	}
	return script, nil
}

// kinds of events, and what each is about.
func kinds() map[simulate.EventKind]string {
	const cluster, member, wave, none = "cluster", "member", "wave", ""
	return map[simulate.EventKind]string{
		simulate.MachineFails: cluster, simulate.ClusterSlow: cluster, simulate.ClusterSick: cluster, simulate.ClusterUnseen: cluster,
		simulate.ClusterWell: cluster, simulate.ClusterPaused: cluster, simulate.ClusterResumed: cluster,
		simulate.ClusterClaimed: cluster, simulate.ClusterFreed: cluster, simulate.OwnerDefers: cluster,
		simulate.ClusterLeaves: cluster, simulate.MemberSilent: member, simulate.MemberBack: member, simulate.Approved: wave,
		simulate.Rejected: wave, simulate.Promoted: wave, simulate.HubDown: none, simulate.HubBack: none, simulate.Frozen: none,
		simulate.Thawed: none, simulate.PolicyPaused: none, simulate.PolicyResumed: none, simulate.TargetMoves: none,
		simulate.RolloutCancelled: none, simulate.TargetChanges: none,
	}
}

// fits says what is wrong with an event; nil: it can befall this fleet.
func (r *Rehearsal) fits(h happening) error {
	about, known := kinds()[h.Kind]
	switch {
	case h.At.IsZero():
		return errors.New("at is missing; accepted: 2026-12-07T18:00:00Z")
	case h.Kind == "":
		return errors.New("kind is missing; accepted: MemberSilent, ClusterSlow, MachineFails, Approved")
	case !known:
		var names []string
		for kind := range kinds() {
			names = append(names, string(kind))
		}
		slices.Sort(names)
		return fmt.Errorf("kind %q is not known; accepted: %s", h.Kind, strings.Join(names, ", "))
	case map[string]string{"cluster": h.Cluster, "member": h.Member, "wave": h.Wave, "": "-"}[about] == "":
		return fmt.Errorf("%s is missing, which %s is about", about, h.Kind)
	}
	if h.Cluster != "" && !slices.ContainsFunc(r.Fleet.Clusters, func(c policy.Cluster) bool { return c.Path == h.Cluster }) {
		return fmt.Errorf("cluster: the plan has no %s; accepted: <management cluster>/<namespace>/<name>", h.Cluster)
	}
	if _, there := r.Fleet.Members[h.Member]; h.Member != "" && !there {
		return fmt.Errorf("member: the inventory has no %s", h.Member)
	}
	if h.Wave != "" && !slices.ContainsFunc(r.Fleet.Waves, func(w policy.Wave) bool { return w.Name == h.Wave }) {
		return fmt.Errorf("wave: the plan has no %s", h.Wave)
	}
	return nil
}

func utc(t metav1.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}
