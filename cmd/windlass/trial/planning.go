// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"errors"
	"io"
	"time"

	"github.com/windlass-dev/windlass/cmd/windlass/files"
)

// Planning plans a policy over an inventory.
type Planning struct{ Common }

// Run prints the plan. now stands for an absent From. Where the files hold no inventory the hub is asked for the one of the
// namespace of their policy, empty: the hub's default.
func (p Planning) Run(out io.Writer, now time.Time, hub func(namespace string) (*files.Objects, error)) error {
	set, err := p.setting(now)
	if err != nil {
		return err
	}
	objects := &files.Objects{}
	if len(p.Files) > 0 {
		if objects, err = files.Read(p.Stdin, p.Files...); err != nil {
			return err
		}
	}
	if len(objects.Members) == 0 {
		namespace := ""
		if len(objects.Policies) == 1 {
			namespace = objects.Policies[0].Namespace
			p.Policy = cmp.Or(p.Policy, objects.Policies[0].Name)
		}
		inventory, err := hub(namespace)
		if err != nil {
			return err
		}
		if objects.Under(inventory); len(objects.Policies) == 0 {
			return errors.New("this namespace of the hub holds no RolloutPolicy; accepted: -f policy.yaml, or another with --namespace")
		}
	}
	r, err := p.rehearsal(objects, set.from)
	if err != nil {
		return err
	}
	return p.print(out, r.Preview(), set.zone)
}
