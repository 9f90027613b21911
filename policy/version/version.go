// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package version orders Kubernetes versions and says which moves between them are allowed (law 19 of DESIGN.md).
// Build metadata and what a vendor appends to a release never count; a pre-release that Kubernetes makes (alpha, beta, rc)
// is older than its release.
package version

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Version is a Kubernetes version, of which the patch may be left open.
type Version struct {
	number *semver.Version
	// minorOnly: "v1.33", any patch.
	minorOnly bool
	text      string
}

// Parse reads "v1.33.9", "1.33.9-rc.0", "v1.33.9+k8s1" or "v1.33".
func Parse(text string) (Version, error) {
	number, err := semver.NewVersion(text)
	if err != nil {
		return Version{}, fmt.Errorf("%q is no version: give a form such as v1.33.9 or v1.33: %w", text, err)
	}
	dots := 0
	for _, letter := range text {
		switch letter {
		case '.':
			dots++
		case '-', '+':
			if dots < 2 {
				return Version{}, fmt.Errorf("%q is no version: give a form such as v1.33.9 or v1.33", text)
			}
		}
	}
	if dots == 0 {
		return Version{}, fmt.Errorf("%q is no version: give a form such as v1.33.9 or v1.33", text)
	}
	if !preRelease(number.Prerelease()) {
		number = semver.New(number.Major(), number.Minor(), number.Patch(), "", "")
	}
	return Version{number: number, minorOnly: dots == 1, text: text}, nil
}

// preRelease tells Kubernetes' pre-releases from a vendor's suffix ("v1.33.9-gke.1"), which says nothing about age.
func preRelease(suffix string) bool {
	for _, kind := range [...]string{"alpha", "beta", "rc"} {
		if strings.HasPrefix(suffix, kind) {
			return true
		}
	}
	return false
}

// String is the text that was read.
func (v Version) String() string { return v.text }

// Compare is -1, 0 or 1 as v is older than, the same as or newer than other. Where either leaves the patch open, only
// minors are compared.
func (v Version) Compare(other Version) int {
	if v.minorOnly || other.minorOnly {
		return cmp.Compare(v.Minors(other), 0)
	}
	return v.number.Compare(other.number)
}

// Minors is how many minors v is ahead of other; another major counts as a thousand.
func (v Version) Minors(other Version) int {
	major := int(v.number.Major()) - int(other.number.Major())
	return major*1000 + int(v.number.Minor()) - int(other.number.Minor())
}

// Fits reports whether a kubelet is of the minor of want and not older. A want of a minor takes any patch; an
// empty one takes any version that is known; what cannot be read fits nothing (law 3).
func Fits(kubelet, want string) bool {
	got, err := Parse(kubelet)
	if err != nil {
		return false
	}
	if want == "" {
		return true
	}
	least, err := Parse(want)
	if err != nil {
		return false
	}
	open := got.minorOnly && !least.minorOnly // of a kubelet whose patch is not known it is not known either
	return !open && got.Minors(least) == 0 && got.Compare(least) >= 0
}

// Same reports whether two texts name one version; texts that cannot be read are compared as they are.
func Same(a, b string) bool {
	left, err := Parse(a)
	if err != nil {
		return a == b
	}
	right, err := Parse(b)
	return err == nil && left.minorOnly == right.minorOnly && left.Compare(right) == 0
}

// Newer reports whether a names a newer version than b. A text that cannot be read is older than any that can.
func Newer(a, b string) bool {
	left, err := Parse(a)
	if err != nil {
		return false
	}
	right, err := Parse(b)
	return err != nil || left.Compare(right) > 0
}
