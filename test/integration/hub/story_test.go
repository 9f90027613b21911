// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package hub_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"
)

// story is a claim that spends its time waiting for clusters, and so is told beside others: a hub has many policies at
// once. It has clusters and policies of its own, and asks its own Gomega, which ends it at the first failure.
type story struct {
	text string
	tell func(ctx context.Context, g Gomega)
}

// begin tells a story beside whatever else goes on; its end, or why it failed, comes through the channel.
func (s story) begin(ctx context.Context) <-chan error {
	end := make(chan error, 1)
	go func() {
		failure := errors.New("the story was broken off")
		defer func() { end <- failure }() // after a failure too
		g := NewGomega(func(message string, skip ...int) {
			failure = fmt.Errorf("%s\n%s", types.NewCodeLocation(skip[0]+1), message)
			runtime.Goexit()
		})
		patient(g)
		s.tell(ctx, g)
		failure = nil
	}()
	return end
}

// focused: a story is among those that the suite is asked for, all without a focus.
func focused(text string) bool {
	suite, _ := GinkgoConfiguration()
	return len(suite.FocusStrings) == 0 || slices.ContainsFunc(suite.FocusStrings, func(focus string) bool {
		return regexp.MustCompile(focus).MatchString("a hub with many policies at once " + text)
	})
}

// patient sets how long a Gomega waits for what must come. Real programs on two cores may need a while.
func patient(g Gomega) {
	g.EnforceDefaultTimeoutsWhenUsingContexts()
	g.SetDefaultEventuallyTimeout(5 * time.Minute)
	g.SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	g.SetDefaultConsistentlyDuration(3 * time.Second)
}

var _ = Describe("a hub with many policies at once", Ordered, ContinueOnFailure, func() {
	stories := []story{
		{"upgrades the canary alone, then wave after wave, each machine once, and leaves nothing behind", waves},
		{"lets one of two policies that match one cluster have it, and says on both sides whom", oneHolder},
		{"tries a machine again that failed once, and succeeds", retry},
		{"plans a paused policy and starts nothing, and stops one in flight at the next machine", pause},
		{"goes on without a member that is silent, and with it when it answers again; what was given up meanwhile it takes back", silence},
		{"counts a cluster that is gone as removed, and inherits nothing to another of its name", removal},
		{"refuses a misspelt field, and does nothing about an object that has one all the same", misspelt},
		{"C023: plans in a closed calendar and says until when, begins when it is opened, and stops when it is closed", closed},
		{"stops what a Freeze covers at the next machine, and goes on when it is deleted", freeze},
		{"C155: completes a wave without a cluster whose owner put it off, and catches up when they take that back", deferral},
		{"C102: refreshes machines once more that carry the target, where they are to have been refreshed after an instant", refreshedAgain},
		{"C036: begins in an opening what was measured to fit into it, and nothing else", measured},
		{"C024: closes a calendar that was stored before it could be refused, and only what names it", storedBad},
	}
	ends := map[string]<-chan error{}

	BeforeAll(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 12*time.Minute) // a stuck story ends before the suite
		DeferCleanup(cancel)
		for _, s := range stories {
			if focused(s.text) {
				ends[s.text] = s.begin(ctx)
			}
		}
	})
	for _, s := range stories {
		It(s.text, func() { Expect(<-ends[s.text]).To(Succeed()) })
	}
})
