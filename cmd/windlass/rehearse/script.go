// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package rehearse

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/windlass-dev/windlass/cmd/windlass/spelling"
	"github.com/windlass-dev/windlass/policy"
	"github.com/windlass-dev/windlass/policy/simulate"
)

// happening is an event as a file has it.
type happening struct {
	At           string             `json:"at"`
	Kind         simulate.EventKind `json:"kind"`
	Cluster      string             `json:"cluster"`
	Member       string             `json:"member"`
	Wave         string             `json:"wave"`
	Name         string             `json:"name"`
	By           string             `json:"by"`
	Text         string             `json:"text"`
	From         string             `json:"from"`
	Until        string             `json:"until"`
	Takes        string             `json:"takes"`
	NewClusters  bool               `json:"newClustersOnly"`
	Version      string             `json:"version"`
	Architecture string             `json:"architecture"`
}

// Script reads what befalls the world from a YAML file: a list of events. The error names the event, its field and an
// accepted form; a cluster or member that the rehearsal does not have is an error, too.
func (r *Rehearsal) Script(path string) ([]simulate.Event, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%s: is no list of events; accepted: a list such as [{at: 2026-12-07T18:00:00Z, kind: MemberSilent, member: mgmt-a}]",
			path)
	}
	script := make([]simulate.Event, 0, len(list))
	for i, one := range list {
		event, err := r.event(one)
		if err != nil {
			return nil, fmt.Errorf("%s: event %d: %w", path, i+1, err)
		}
		script = append(script, event)
	}
	return script, nil
}

// event reads one.
func (r *Rehearsal) event(data []byte) (simulate.Event, error) {
	var h happening
	strange, err := kjson.UnmarshalStrict(data, &h, kjson.DisallowUnknownFields)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return simulate.Event{}, fmt.Errorf("%s cannot be a %s; accepted: a %s", cmp.Or(wrong.Field, "an event"), wrong.Value, wrong.Type.Kind())
	}
	if err != nil {
		return simulate.Event{}, err
	}
	for _, one := range strange {
		if field := kjson.FieldError(nil); errors.As(one, &field) {
			return simulate.Event{}, errors.New(spelling.Field(&h, field.FieldPath()))
		}
	}
	e := simulate.Event{
		Kind: h.Kind, Cluster: h.Cluster, Member: h.Member, Wave: h.Wave, Name: h.Name, By: h.By, Text: h.Text,
		NewClustersOnly: h.NewClusters, Version: h.Version, Architecture: h.Architecture,
	}
	err = errors.Join(instant(&e.At, "at", h.At), instant(&e.From, "from", h.From), instant(&e.Until, "until", h.Until),
		duration(&e.Takes, "takes", h.Takes), r.fits(h))
	return e, err
}

// instant reads a field; what is not given is zero.
func instant(into *time.Time, field, text string) error {
	if text == "" {
		return nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return fmt.Errorf("%s: %q is no instant; accepted: 2026-12-07T18:00:00Z", field, text)
	}
	*into = t.UTC()
	return nil
}

func duration(into *time.Duration, field, text string) error {
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("%s: %q is no duration; accepted: 45m, 2h30m", field, text)
	}
	*into = d
	return nil
}

// kinds of events, and the fields that each needs beside at.
func kinds() map[simulate.EventKind][]string {
	const cluster, member, wave = "cluster", "member", "wave"
	return map[simulate.EventKind][]string{
		simulate.MachineFails: {cluster}, simulate.ClusterSlow: {cluster, "takes"}, simulate.ClusterSick: {cluster},
		simulate.ClusterUnseen: {cluster}, simulate.ClusterWell: {cluster}, simulate.ClusterPaused: {cluster},
		simulate.ClusterResumed: {cluster}, simulate.ClusterClaimed: {cluster}, simulate.ClusterFreed: {cluster},
		simulate.OwnerDefers: {cluster, "until"}, simulate.ClusterLeaves: {cluster}, simulate.MemberSilent: {member},
		simulate.MemberBack: {member}, simulate.Approved: {wave, "by"}, simulate.Rejected: {wave, "by"},
		simulate.Promoted: {wave, "by"}, simulate.HubDown: nil, simulate.HubBack: nil, simulate.Frozen: {"name"},
		simulate.Thawed: {"name"}, simulate.PolicyPaused: nil, simulate.PolicyResumed: nil, simulate.TargetMoves: {"version"},
		simulate.RolloutCancelled: nil, simulate.TargetChanges: nil,
	}
}

// given are the fields of an event that another one may need.
func (h happening) given(field string) bool {
	return map[string]string{
		"cluster": h.Cluster, "member": h.Member, "wave": h.Wave, "by": h.By, "name": h.Name, "takes": h.Takes, "until": h.Until,
		"version": h.Version,
	}[field] != ""
}

// fits says what is wrong with an event; nil: it can befall this fleet.
func (r *Rehearsal) fits(h happening) error {
	needs, known := kinds()[h.Kind]
	missing := slices.IndexFunc(needs, func(field string) bool { return !h.given(field) })
	switch {
	case h.At == "":
		return errors.New("at is missing; accepted: 2026-12-07T18:00:00Z")
	case h.Kind == "":
		return errors.New("kind is missing; accepted: MemberSilent, ClusterSlow, MachineFails, Approved")
	case !known:
		var names []string
		for _, kind := range slices.Sorted(maps.Keys(kinds())) {
			names = append(names, string(kind))
		}
		return fmt.Errorf("kind %q is not known; accepted: %s", h.Kind, strings.Join(names, ", "))
	case missing >= 0:
		return fmt.Errorf("%s is missing, which %s needs", needs[missing], h.Kind)
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
