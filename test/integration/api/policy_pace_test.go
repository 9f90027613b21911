// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"cmp"
	"fmt"
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Each entry changes the least policy; what it says is when, how fast and with whose consent.
var _ = DescribeTable("the pace of a RolloutPolicy is refused with the field and an accepted form",
	func(ctx SpecContext, change, field, words string) {
		err := try(ctx, strict, object("RolloutPolicy", leastPolicy, change))
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(And(ContainSubstring(field+": "), ContainSubstring(words))))
	},

	Entry("C029: no calendars and no anyTime", `anyTime: null`, "spec.calendars",
		"must say when; accepted: [eu-nights], or anyTime: true in place of calendars"),
	Entry("C029: an empty list of calendars", `{calendars: [], anyTime: null}`, "spec.calendars",
		"is empty, which would be never or always; accepted: [eu-nights], or anyTime: true in place of calendars"),
	Entry("C029: an empty list of calendars beside anyTime", `calendars: []`, "spec.calendars", "is empty, which would be never or always"),
	Entry("calendars and anyTime", `calendars: [eu-nights]`, "spec.calendars", "contradicts anyTime; accepted: one of them"),
	Entry("a calendar's name that is none", `{calendars: [EU nights], anyTime: null}`, "spec.calendars[0]",
		"each must be the name of a MaintenanceCalendar; accepted: eu-nights"),
	Entry("a calendar twice", `{calendars: [eu-nights, eu-nights], anyTime: null}`, "spec.calendars[1]", "Duplicate value"),

	Entry("a soak without a unit", `waves: [{name: a, rest: true, soakDuration: "30"}]`, "spec.waves[0].soakDuration",
		"must be a duration of 1s to 720h; accepted: 30m, 1h"),
	Entry("a soak of zero", `waves: [{name: a, rest: true, soakDuration: 0s}]`, "spec.waves[0].soakDuration", "must be a duration of 1s to 720h"),
	Entry("a soak below zero", `canaries: {soakDuration: -1h}`, "spec.canaries.soakDuration", "must be a duration of 1s to 720h; accepted: 30m, 1h"),
	Entry("a soak of days", `canaries: {soakDuration: 2d}`, "spec.canaries.soakDuration", "must be a duration of 1s to 720h"),
	Entry("a soak of months", `canaries: {soakDuration: 721h}`, "spec.canaries.soakDuration", "must be a duration of 1s to 720h"),
	Entry("a deadline of zero", `canaries: {deadline: 0s}`, "spec.canaries.deadline", "must be a duration of 1s to 8760h; accepted: 2h"),
	Entry("a wave's deadline of years", `waves: [{name: a, rest: true, deadline: 8761h}]`, "spec.waves[0].deadline",
		"must be a duration of 1s to 8760h; accepted: 8h"),
	Entry("onDeadline without a deadline", `waves: [{name: a, rest: true, onDeadline: Continue}]`, "spec.waves[0].onDeadline",
		"says nothing without a deadline; accepted: deadline: 8h beside it"),
	Entry("an unknown onDeadline", `waves: [{name: a, rest: true, deadline: 8h, onDeadline: Skip}]`, "spec.waves[0].onDeadline",
		`supported values: "Halt", "Continue"`),
	Entry("an approval of nobody", `canaries: {approval: {count: 0}}`, "spec.canaries.approval.count", "must be 1 to 10; accepted: 1"),
	Entry("an approval of everybody", `waves: [{name: a, rest: true, approval: {count: 11}}]`, "spec.waves[0].approval.count",
		"must be 1 to 10; accepted: 1"),
	Entry("an approval that counts nothing", `waves: [{name: a, rest: true, approval: {}}]`, "spec.waves[0].approval.count", "Required value"),

	Entry("an empty list of limits", `limits: []`, "spec.limits",
		"is empty and bounds nothing; accepted: [{per: ManagementCluster, max: 3}], or leave it out"),
	Entry("a limit of nothing", `limits: [{max: 3}]`, "spec.limits[0]",
		"exactly one of per and perLabel is needed; accepted: {per: ManagementCluster, max: 3}, or {perLabel: example.com/site, max: 1}"),
	Entry("a limit of two things", `limits: [{per: ManagementCluster, perLabel: a, max: 3}]`, "spec.limits[0]",
		"exactly one of per and perLabel is needed"),
	Entry("a limit per something else", `limits: [{per: Region, max: 3}]`, "spec.limits[0].per", `supported values: "ManagementCluster"`),
	Entry("a limit per what is no label", `limits: [{perLabel: "a b", max: 3}]`, "spec.limits[0].perLabel",
		"must be the key of a label; accepted: example.com/site"),
	Entry("a limit without a number", `limits: [{per: ManagementCluster}]`, "spec.limits[0].max", "must say how many; accepted: max: 3"),
	Entry("a limit of zero", `limits: [{per: ManagementCluster, max: 0}]`, "spec.limits[0].max", "must be 1 to 10000; accepted: 3"),
	Entry("an unknown budget", `failureBudget: None`, "spec.failureBudget", `supported values: "Observed", "Reserved"`),

	Entry("no grace", `unreachable: {grace: 0s}`, "spec.unreachable.grace", "must be a duration of 1s to 24h; accepted: 10m"),
	Entry("a grace of days", `unreachable: {grace: 25h}`, "spec.unreachable.grace", "must be a duration of 1s to 24h"),
	Entry("an unknown answer to silence", `unreachable: {beforeStart: Skip}`, "spec.unreachable.beforeStart",
		`supported values: "CatchUp", "Wait", "Fail"`),
	Entry("fewer unknown than none", `unreachable: {maxUnknown: -1}`, "spec.unreachable.maxUnknown", "must be 0 to 10000; accepted: 3"),
	Entry("a deferral below zero", `deferral: {max: -1h}`, "spec.deferral.max",
		"must be a duration of 0s to 8760h; accepted: 168h, or 0s to honour none"),
	Entry("an unknown answer to late joiners", `catchUp: {lateJoiners: Halt}`, "spec.catchUp.lateJoiners", `supported values: "Include", "Ignore"`),
	Entry("catch-up until at once", `catchUp: {until: 0s}`, "spec.catchUp.until", "must be a duration of 1s to 8760h; accepted: 720h"),
	Entry("a priority beyond reason", `priority: 1001`, "spec.priority", "must be -1000 to 1000; accepted: 0, 10"),
	Entry("an empty change", `change: {reference: ""}`, "spec.change.reference", "must not be empty; accepted: CHG0042"),
	Entry("a change of nobody", `change: {requestedBy: " "}`, "spec.change.requestedBy", "must not be empty; accepted: jane@example.com"),

	Entry("an expectation of zero", `upgrade: {machine: {expected: 0s}}`, "spec.upgrade.machine.expected",
		"must be a duration of 1s to 8760h; accepted: 10m"),
	Entry("an expectation longer than the timeout", `upgrade: {machine: {expected: 1h, timeout: 45m}}`, "spec.upgrade.machine.expected",
		"must not be longer than timeout, which is 30m where it is left out; accepted: expected: 10m with timeout: 30m"),
	Entry("an expectation longer than the timeout that was left out", `upgrade: {machine: {expected: 31m}}`,
		"spec.upgrade.machine.expected", "must not be longer than timeout, which is 30m where it is left out"),
	Entry("progress at once", `upgrade: {progressDeadline: 0s}`, "spec.upgrade.progressDeadline",
		"must be a duration of 1s to 8760h; accepted: 4h"),
	Entry("a refresh after a date", `target: {refreshedAfter: "2026-12-01"}`, "spec.target.refreshedAfter",
		"must be an instant as RFC 3339 writes it; accepted: 2026-12-01T00:00:00Z, 2026-12-01T02:00:00+01:00"),
	Entry("a refresh after an instant that only some programs read", `target: {refreshedAfter: "2026-12-01t00:00:00z"}`,
		"spec.target.refreshedAfter", "must be an instant as RFC 3339 writes it"),
)

var _ = DescribeTable("the pace of a RolloutPolicy is accepted", func(ctx SpecContext, change string) {
	Expect(try(ctx, strict, object("RolloutPolicy", leastPolicy, change))).To(Succeed())
},
	Entry("C029: of a calendar", `{calendars: [eu-nights], anyTime: null}`),
	Entry("of calendars that must all be open", `{calendars: [eu-nights, no-quarter-ends.eu], anyTime: null}`),
	Entry("with every gate of a wave",
		`waves: [{name: a, rest: true, soakDuration: 1h, deadline: 8h, onDeadline: Continue, approval: {count: 2}}]`),
	Entry("with a deadline that halts", `waves: [{name: a, rest: true, deadline: 8h}]`),
	Entry("with every gate of the canaries", `canaries: {soakDuration: 30m, deadline: 2h, approval: {count: 1}}`),
	Entry("with a soak of a second", `canaries: {soakDuration: 1s}`),
	Entry("with a limit per management cluster and one per label",
		`limits: [{per: ManagementCluster, max: 3}, {perLabel: example.com/site, max: 1}, {perLabel: rack, max: 2}]`),
	Entry("with a reserved budget", `failureBudget: Reserved`),
	Entry("with an answer to silence", `unreachable: {grace: 10m, beforeStart: Wait, maxUnknown: 0}`),
	Entry("with no wish to wait honoured", `deferral: {max: 0s}`),
	Entry("with catch-up", `catchUp: {lateJoiners: Ignore, drift: Report, until: 720h}`),
	Entry("with a priority below the default", `priority: -10`),
	Entry("with a change", `change: {reference: CHG0042, requestedBy: jane@example.com}`),
	Entry("with an expectation and a deadline for progress",
		`upgrade: {progressDeadline: 4h, machine: {expected: 10m}}`),
	Entry("with an expectation as long as the timeout", `upgrade: {machine: {expected: 45m, timeout: 45m}}`),
	Entry("with marked single control planes", `upgrade: {singleControlPlane: AllowMarked}`),
	Entry("with a refresh after an instant", `target: {refreshedAfter: "2026-12-01T00:00:00+01:00"}`),
)

// Whole numbers and percentages of a wave. What they come to is tested beside the decisions.
var _ = Describe("C055: an amount", func() {
	const percentages = "must be a number from 1 or a percentage from 1% to 100%; accepted: 2, 25%"
	for _, amount := range []string{`10%`, `25%`, `100%`, `1%`, `1`, `2`, `10000`} {
		It(amount+" is a concurrency", func(ctx SpecContext) {
			Expect(try(ctx, strict, wave("maxConcurrency", amount))).To(Succeed())
		})
	}
	for amount, words := range map[string]string{
		`0%`: percentages, `150%`: percentages, `-5%`: percentages, `"10"`: percentages, `10.5`: "must be of type integer",
		`0`: percentages, `-1`: percentages, `1000%`: percentages, `"10 %"`: percentages, `10.5%`: percentages, `05%`: percentages, `""`: percentages,
		`ten`: percentages, `10001`: percentages,
	} {
		It(amount+" is no concurrency", func(ctx SpecContext) {
			err := try(ctx, strict, wave("maxConcurrency", amount))
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(And(ContainSubstring("spec.waves[0].maxConcurrency: "), ContainSubstring(words))))
		})
	}
	for _, amount := range []string{`0`, `0%`, `10%`, `100%`, `2`} {
		It(amount+" is a number of failures", func(ctx SpecContext) {
			Expect(try(ctx, strict, wave("maxFailures", amount))).To(Succeed())
		})
	}
	for amount, words := range map[string]string{
		`150%`: "must be a number from 0 or a percentage from 0% to 100%; accepted: 0, 2, 10%", `-5%`: "accepted: 0, 2, 10%",
		`"10"`: "accepted: 0, 2, 10%", `10.5`: "must be of type integer", `-1`: "accepted: 0, 2, 10%",
	} {
		It(amount+" is no number of failures", func(ctx SpecContext) {
			err := try(ctx, strict, wave("maxFailures", amount))
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(And(ContainSubstring("spec.waves[0].maxFailures: "), ContainSubstring(words))))
		})
	}
})

// No selector takes every cluster, wherever it stands: that is said with all, rest or none.
var _ = Describe("C076: a selector", func() {
	places := map[string]struct{ kind, change, field, path string }{
		"of the clusters":            {"RolloutPolicy", `clusters: {%s}`, "selector", "spec.clusters"},
		"of the management clusters": {"RolloutPolicy", `clusters: {%s}`, "managementClusterSelector", "spec.clusters"},
		"of the canaries":            {"RolloutPolicy", `canaries: {%s}`, "selector", "spec.canaries"},
		"of a wave":                  {"RolloutPolicy", `waves: [{name: a, %s}]`, "selector", "spec.waves[0]"},
		"of a Freeze":                {"Freeze", `scope: {%s}`, "selector", "spec.scope"},
	}
	accepted := map[string]bool{
		``: false, `: null`: false, `: {}`: false, `: {matchLabels: {}}`: false, `: {matchExpressions: []}`: false,
		`: {matchLabels: {}, matchExpressions: []}`: false, `: {matchLabels: {tier: ""}}`: true, `: {matchLabels: {tier: prod}}`: true,
	}
	for where, place := range places {
		for text, takes := range accepted {
			It(where+", "+cmp.Or(text, "left out")+", takes what it says", func(ctx SpecContext) {
				written := place.field + text
				if text == "" {
					written = ""
				}
				spec := parsed(least(place.kind))
				maps.Copy(spec, parsed(fmt.Sprintf(place.change, written)))
				err := try(ctx, strict, made(place.kind, spec))
				if takes {
					Expect(err).NotTo(HaveOccurred())
					return
				}
				Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
				Expect(err).To(MatchError(And(ContainSubstring(place.path), ContainSubstring("; accepted: "))))
			})
		}
	}

	It("of a calendar binds no more than it says", func(ctx SpecContext) {
		for text, accepted := range map[string]bool{
			``: true, `clusterSelector: null`: true, `clusterSelector: {}`: false, `clusterSelector: {matchLabels: {}}`: false,
			`clusterSelector: {matchExpressions: []}`: false, `clusterSelector: {matchLabels: {tier: ""}}`: true,
		} {
			err := try(ctx, strict, object("MaintenanceCalendar", leastCalendar, text))
			Expect(err == nil).To(Equal(accepted), "%s: %v", text, err)
			if !accepted {
				Expect(err).To(MatchError(ContainSubstring("spec.clusterSelector: is empty, which would be every cluster or none; "+
					"accepted: matchLabels: {tier: prod}, or leave it out")), text)
			}
		}
	})
})

// wave is a policy whose only wave has an amount.
func wave(field, amount string) *unstructured.Unstructured {
	return object("RolloutPolicy", leastPolicy, "waves: [{name: rest, rest: true, "+field+": "+amount+"}]")
}
