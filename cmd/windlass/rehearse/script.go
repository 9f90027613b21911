// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

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
	known := map[string]bool{}
	for i := range r.Fleet.Clusters {
		known[r.Fleet.Clusters[i].Path] = true
	}
	var script []simulate.Event
	for i, h := range list {
		place := fmt.Sprintf("%s: event %d", path, i+1)
		switch _, member := r.Fleet.Members[h.Member]; {
		case h.At.IsZero():
			return nil, fmt.Errorf("%s: at is missing; accepted: 2026-12-07T18:00:00Z", place)
		case h.Kind == "":
			return nil, fmt.Errorf("%s: kind is missing; accepted: MemberSilent, ClusterSlow, MachineFails, Approved …", place)
		case h.Cluster != "" && !known[h.Cluster]:
			return nil, fmt.Errorf("%s: cluster: the plan has no %s; accepted: <management cluster>/<namespace>/<name>", place, h.Cluster)
		case h.Member != "" && !member:
			return nil, fmt.Errorf("%s: member: the inventory has no %s", place, h.Member)
		}
		script = append(script, simulate.Event{
			At: h.At.UTC(), Kind: h.Kind, Cluster: h.Cluster, Member: h.Member, Wave: h.Wave, Name: h.Name, By: h.By, Text: h.Text,
			From: utc(h.From), Until: utc(h.Until), Takes: h.Takes.Duration, Version: h.Version, Architecture: h.Architecture,
		})
	}
	return script, nil
}

func utc(t metav1.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}
