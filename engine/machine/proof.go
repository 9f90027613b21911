// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"strings"
	"time"

	"github.com/windlass-dev/windlass/engine/capi"
)

// noUpdates is what snapd says where a channel has nothing newer than what is installed.
const noUpdates = "no updates available"

// reached reports whether the node's version shows that the refresh took place. A version that fitted before the
// refresh shows nothing, unless snapd itself said that there was nothing to do.
func (o Observation) reached() bool {
	version, from, expected := o.KubeletVersion, o.Attempt.From, o.plan().ExpectedVersion
	if expected == "" {
		return version != "" && from != "" && version != from
	}
	nothingToDo := o.Marks.HasChangeID && o.Marks.ChangeID == ""
	return capi.Fits(version, expected) && (version != from || nothingToDo)
}

// shows reports whether the node's version is one that the upgrade may end with.
func (o Observation) shows() bool {
	expected := o.plan().ExpectedVersion
	return expected == "" || capi.Fits(o.KubeletVersion, expected)
}

// ended: snapd says that the change is done, which is believed once the node shows it.
func (o Observation) ended(now time.Time) Step {
	switch {
	case o.shows():
		return o.done()
	case now.Before(o.deadline()):
		return waitUntil(NotShown, earlier(o.NextPoll, o.deadline()))
	}
	return o.fail(now, fmt.Sprintf("change %q is done, and the node still runs %s instead of %s after %s",
		o.Marks.ChangeID, o.KubeletVersion, o.plan().ExpectedVersion, o.timeout()))
}

// nothingNewer reports whether k8sd refused a refresh because there is nothing to refresh to.
func nothingNewer(err error) bool { return strings.Contains(err.Error(), noUpdates) }
