// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package orchestrate_test

import (
	"testing"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/orchestrate"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// protection is what stands on a machine about its remediation: Cluster API's annotation, and whether it is ours.
func (w *world) protection(name string) [2]bool {
	a := w.get(name).GetAnnotations()
	_, skipped := a[capi.SkipRemediationAnnotation]
	_, ours := a[protocol.SkipRemediationKey]
	return [2]bool{skipped, ours}
}

var (
	unprotected   = [2]bool{false, false}
	protected     = [2]bool{true, true}
	aPersonsOwn   = [2]bool{true, false}
	takenOffAgain = [2]bool{false, true}
)

func TestFault16_NoHealthCheckReplacesAMachineFromItsMarkToItsProof(t *testing.T) {
	w := newWorld(t, 1, 2)
	w.grant("a")
	w.settle("a")
	same(t, "marked", protected, w.protection("a-0"))
	same(t, "not marked", unprotected, w.protection("a-1"))
	w.begins("a-0")
	w.settle("a")
	same(t, "in flight", protected, w.protection("a-0"))
	w.finishes("a-0")
	w.settle("a")
	same(t, "before the node shows it", protected, w.protection("a-0"))
	w.shows("a-0", newVersion)
	w.settle("a")
	same(t, "proven", unprotected, w.protection("a-0"))
}

func TestFault16_AQuarantinedMachineStaysProtectedUntilItIsWithdrawn(t *testing.T) {
	w := newWorld(t, 1, 1)
	w.grant("a")
	w.settle("a")
	w.givesUp("a-0")
	w.settle("a")
	same(t, "quarantined", protected, w.protection("a-0"))
	w.annotate("a", nil, keys.To)
	w.settle("a")
	same(t, "withdrawn", unprotected, w.protection("a-0"))
}

// A machine with skip-remediation is not looked at by any MachineHealthCheck: its condition stands still.
func TestFault16_AHealthCheckThatStandsStillDoesNotHoldUpTheProof(t *testing.T) {
	w := newWorld(t, 1, 1)
	w.grant("a")
	w.settle("a")
	w.condition("a-0", "HealthCheckSucceeded", "False") // written while the mark was
	w.begins("a-0")
	w.ends("a-0")
	w.settle("a")
	same(t, "machine", finished, w.marks("a-0"))
	same(t, "proven", unprotected, w.protection("a-0"))
	same(t, "owner, until the check has looked again", "{to,status=in-progress,planned}", w.marks("a"))
}

func TestFault16_WhatAPersonSetAgainstRemediationStays(t *testing.T) {
	set := map[string]string{capi.SkipRemediationAnnotation: ""}
	for name, end := range map[string]func(w *world){
		"proven":    func(w *world) { w.begins("a-0"); w.ends("a-0") },
		"withdrawn": func(w *world) { w.annotate("a", nil, keys.To) },
	} {
		t.Run("before the mark, "+name, func(t *testing.T) {
			w := newWorld(t, 1, 2)
			w.annotate("a-0", set)
			w.grant("a")
			w.settle("a")
			same(t, "marked", aPersonsOwn, w.protection("a-0"))
			end(w)
			w.settle("a")
			same(t, "in the end", aPersonsOwn, w.protection("a-0"))
		})
		t.Run("with a value, after the mark, "+name, func(t *testing.T) {
			w := newWorld(t, 1, 2)
			w.grant("a")
			w.settle("a")
			w.annotate("a-0", map[string]string{capi.SkipRemediationAnnotation: "hands off"})
			end(w)
			w.settle("a")
			same(t, "in the end", aPersonsOwn, w.protection("a-0"))
		})
		t.Run("taken off after the mark, "+name, func(t *testing.T) {
			w := newWorld(t, 1, 2)
			w.grant("a")
			w.settle("a")
			w.annotate("a-0", nil, capi.SkipRemediationAnnotation)
			w.settle("a")
			same(t, "not set again", takenOffAgain, w.protection("a-0"))
			end(w)
			w.settle("a")
			same(t, "in the end", unprotected, w.protection("a-0"))
		})
	}
}

func TestAProtectionThatOutlivedItsPlanGoes(t *testing.T) {
	for name, prepare := range map[string]func(w *world){
		"while an upgrade is asked for": func(w *world) { w.grant("a"); w.healthy("a-1", false) },
		"while none is":                 func(*world) {},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, 2)
			w.annotate("a-1", map[string]string{
				capi.SkipRemediationAnnotation: "", protocol.SkipRemediationKey: protocol.SkipRemediationSet,
			})
			prepare(w)
			w.settle("a")
			same(t, "left over", unprotected, w.protection("a-1"))
		})
	}
}

func TestAnOwnerOfTheProviderIsRetiredBeforeItsFirstMark(t *testing.T) {
	for _, name := range []string{"cp", "a"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, 2)
			w.keys = protocol.KeysFor(protocol.OwnPrefix)
			armed := map[string]string{keys.To: other, keys.Status: "in-progress", keys.Release: "revision=1"}
			w.annotate(name, armed)
			w.grant(name)
			w.crash = func() error { // what stands on the owner when anything is written
				a := w.get(name).GetAnnotations()
				if w.writes > 0 && (a[keys.To] != "" || a[keys.Status] != "" || a[keys.Release] != "") {
					t.Errorf("written while the owner has %v", a)
				}
				return nil
			}
			w.settle(name)
			same(t, "marked", []string{name + "-0"}, w.marked())
			same(t, "provider's marks", "{planned}", describe(keys, w.get(name).GetAnnotations()))

			w.annotate(name, armed)
			w.writes = 0
			w.settle(name)
			same(t, "provider's marks, set again", "{planned}", describe(keys, w.get(name).GetAnnotations()))
		})
	}
}

func TestAnOwnerThatNobodyAskedIsNotRetired(t *testing.T) {
	w := newWorld(t, 3, 2)
	w.keys = protocol.KeysFor(protocol.OwnPrefix)
	w.annotate("a", map[string]string{keys.To: other, keys.Status: "in-progress", keys.Release: "revision=1"})
	w.settle("a")
	same(t, "writes", 0, w.writes)
}

func TestAForeignUpgradeIsWaitedForAndCounts(t *testing.T) {
	w := newWorld(t, 3, 3)
	w.keys = protocol.KeysFor(protocol.OwnPrefix)
	w.annotate("a-1", map[string]string{keys.To: other, keys.ChangeID: "7", keys.Status: "in-progress"})
	w.grant("a")
	w.annotate("a", map[string]string{protocol.PlanKey: `{"expectedVersion":"v1.34","maxConcurrentMachines":2}`})
	w.settle("a")
	same(t, "marked beside it", []string{"a-0"}, w.marked())
	same(t, "reason shown", orchestrate.ForeignUpgrade, w.waits("a"))
	w.begins("a-0")
	w.ends("a-0")
	w.settle("a")
	w.begins("a-2")
	w.ends("a-2")
	w.settle("a")
	same(t, "all others are proven", orchestrate.ForeignUpgrade, w.waits("a"))
	w.annotate("a-1", map[string]string{keys.Release: other, keys.Status: "done"}, keys.To, keys.ChangeID)
	w.settle("a")
	same(t, "marked once it has ended", []string{"a-1"}, w.marked())
	same(t, "reason shown in the end", orchestrate.Reason(""), w.waits("a"))
}
