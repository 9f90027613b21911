// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// Verdict is a judgement with its reason. The zero value is Unknown without a reason.
type Verdict struct {
	Status  Status
	Message string
}

// Good reports whether the judgement is True: Unknown is not.
func (v Verdict) Good() bool { return v.Status == True }

func bad(format string, args ...any) Verdict {
	return Verdict{Status: False, Message: fmt.Sprintf(format, args...)}
}

func unknown(format string, args ...any) Verdict {
	return Verdict{Status: Unknown, Message: fmt.Sprintf(format, args...)}
}

// Health judges a machine: not deleting, with a node, NodeReady and NodeHealthy True, HealthCheckSucceeded not
// False. What is not reported is Unknown.
func (m Machine) Health() Verdict {
	switch {
	case m.Deleting:
		return bad("machine %s is being deleted", m.Name)
	case m.NodeName == "":
		return unknown("machine %s has no node", m.Name)
	case m.HealthCheck == False:
		return bad("machine %s fails its health check", m.Name)
	case m.NodeReady == False:
		return bad("node of machine %s is not ready", m.Name)
	case m.NodeHealthy == False:
		return bad("node of machine %s is not healthy", m.Name)
	case m.NodeReady != True || m.NodeHealthy != True:
		return unknown("health of machine %s is not known", m.Name)
	}
	return Verdict{Status: True}
}

// Health judges a control plane: all its replicas exist and are ready, Available not False.
func (c ControlPlane) Health() Verdict {
	switch {
	case c.Deleting:
		return bad("control plane %s is being deleted", c.Name)
	case c.Replicas == nil:
		return unknown("control plane %s does not say how many replicas it has", c.Name)
	case *c.Replicas != c.StatusReplicas || *c.Replicas != c.ReadyReplicas:
		return bad("control plane %s has %d of %d replicas ready (%d exist)", c.Name, c.ReadyReplicas, *c.Replicas,
			c.StatusReplicas)
	case c.Available == False:
		return bad("control plane %s is not available", c.Name)
	}
	return Verdict{Status: True}
}

// Etcd judges the etcd of a control plane machine where it is visible: True also where it is not.
func (m Machine) Etcd() Verdict {
	switch {
	case m.EtcdMember == False:
		return bad("the etcd member of machine %s is not healthy", m.Name)
	case m.EtcdPod == False:
		return bad("the etcd pod of machine %s is not healthy", m.Name)
	}
	return Verdict{Status: True}
}

// Etcd judges the etcd of a control plane where it is visible: True also where it is not.
func (c ControlPlane) Etcd() Verdict {
	if c.EtcdHealthy == False {
		return bad("etcd of control plane %s is not healthy", c.Name)
	}
	return Verdict{Status: True}
}

// RollsOut says why a control plane is replacing its machines, or is about to; empty: it is not, or does not say. Its own
// conditions count where not all of its machines say whether they are up to date.
func (c ControlPlane) RollsOut(machines []Machine) string {
	if outdated, known := specs(machines); known {
		return outdated
	}
	switch {
	case c.RollingOut == True, c.SpecUpToDate == False:
		return fmt.Sprintf("control plane %s is replacing its machines", c.Name)
	case c.UpToDateReplicas != nil && *c.UpToDateReplicas < c.StatusReplicas:
		return fmt.Sprintf("%d of %d machines of control plane %s have the spec that they should have",
			*c.UpToDateReplicas, c.StatusReplicas, c.Name)
	}
	return ""
}

// specs says which machine its owner is going to replace, by what the machines say of themselves; not known: some do
// not, or there is none.
func specs(machines []Machine) (outdated string, known bool) {
	known = len(machines) > 0
	for _, m := range machines {
		switch m.SpecUpToDate {
		case False:
			return fmt.Sprintf("machine %s is going to be replaced or updated", m.Name), true
		case Unknown:
			known = false
		case True:
		}
	}
	return "", known
}

// RollsOut says why a pool is replacing its machines, or is about to; empty: it is not. sets are the MachineSets of
// the pool and machines its machines: during a rollout those of more than one set are there, or wanted.
func (d MachineDeployment) RollsOut(sets []MachineSet, machines []Machine) string {
	live := map[string]bool{}
	for _, s := range sets {
		if s.StatusReplicas > 0 || s.Replicas != nil && *s.Replicas > 0 {
			live[s.Name] = true
		}
	}
	for _, m := range machines {
		if m.Set != "" {
			live[m.Set] = true
		}
	}
	outdated, known := specs(machines)
	switch {
	case len(live) > 1:
		names := slices.Sorted(maps.Keys(live))
		return fmt.Sprintf("pool %s has machines in %d MachineSets: %s", d.Name, len(live), strings.Join(names, ", "))
	case outdated != "":
		return outdated
	case d.RollingOut == True && !known:
		return fmt.Sprintf("pool %s is replacing its machines", d.Name)
	case d.Unseen:
		return fmt.Sprintf("the spec of pool %s has changed and no controller has looked at it yet", d.Name)
	}
	return ""
}

// Health judges a cluster by its own conditions: RemoteConnectionProbe must be True where it is served.
func (c Cluster) Health() Verdict {
	switch {
	case c.Deleting:
		return bad("cluster %s is being deleted", c.Name)
	case c.Connected == False:
		return bad("the management cluster has no connection to cluster %s", c.Name)
	}
	return Verdict{Status: True}
}

// Want is what a machine must show to be proven.
type Want struct {
	// Target is the text that the release annotation must equal.
	Target string
	// Version is what the kubelet must fit (see Fits); empty: any.
	Version string
}

// Proven judges whether a machine is done: healthy, its release is the target, and its kubelet fits (law 3).
// The release is passed in since its key has a prefix.
func (m Machine) Proven(release string, want Want) Verdict {
	if release != want.Target {
		return bad("machine %s is at release %q", m.Name, release)
	}
	if !Fits(m.KubeletVersion, want.Version) {
		return bad("machine %s runs kubelet %q, expected %s", m.Name, m.KubeletVersion, want.Version)
	}
	return m.Health()
}

// Fits reports whether a kubelet version is of the minor of want and not older than want. A want of only a minor
// ("v1.33") takes any patch; an empty one takes any version that is known; an unreadable one fits nothing.
func Fits(kubelet, want string) bool {
	got, err := parse(kubelet)
	if err != nil {
		return false
	}
	if want == "" {
		return true
	}
	least, err := parse(want)
	if err != nil {
		return false
	}
	if OnlyMinor(kubelet) && !OnlyMinor(want) {
		return false // a patch that is not known is not known to be new enough
	}
	return got.Major() == least.Major() && got.Minor() == least.Minor() && got.AtLeast(least)
}

// Newer reports whether a kubelet is of a later minor than want: to refresh it to want would be a downgrade. What
// cannot be read is not known to be newer.
func Newer(kubelet, want string) bool {
	got, err := parse(kubelet)
	if err != nil {
		return false
	}
	most, err := parse(want)
	if err != nil {
		return false
	}
	return got.Major() > most.Major() || got.Major() == most.Major() && got.Minor() > most.Minor()
}

// parse reads a version. Only the pre-releases that Kubernetes makes are older than their release; what a vendor appends
// to a release ("v1.33.9-gke.1") says nothing about its age.
func parse(text string) (*version.Version, error) {
	v, err := version.ParseSemantic(text)
	if err != nil {
		return version.ParseGeneric(text) // a minor without a patch
	}
	for _, kind := range [...]string{"alpha", "beta", "rc"} {
		if strings.HasPrefix(v.PreRelease(), kind) {
			return v, nil
		}
	}
	return version.ParseSemantic(fmt.Sprintf("%d.%d.%d", v.Major(), v.Minor(), v.Patch()))
}

// OnlyMinor reports whether a wanted version names a minor without a patch.
func OnlyMinor(want string) bool {
	v, err := version.ParseGeneric(want)
	return err == nil && len(v.Components()) == 2
}
