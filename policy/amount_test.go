// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy"
)

func TestLaw5AmountsRoundDownAndConcurrencyIsAtLeastOne(t *testing.T) {
	type counts struct{ Of, AtLeastOne int }
	for name, tc := range map[string]struct {
		text    string
		planned int
		want    counts
	}{
		"a tenth of four is none, but one moves": {"10%", 4, counts{0, 1}},
		"a quarter of ten is two":                {"25%", 10, counts{2, 2}},
		"all of three":                           {"100%", 3, counts{3, 3}},
		"a hundredth of one":                     {"1%", 1, counts{0, 1}},
		"a quarter of 199 follows the formula":   {"25%", 199, counts{49, 49}},
		"a quarter of 200 follows the formula":   {"25%", 200, counts{50, 50}},
		"a quarter of 201 follows the formula":   {"25%", 201, counts{50, 50}},
		"a count is a count, however small":      {"5", 2, counts{5, 5}},
		"no count still moves":                   {"0", 7, counts{0, 1}},
		"of an empty wave":                       {"50%", 0, counts{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			amount, err := policy.ParseAmount(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			got := counts{amount.Of(tc.planned), amount.AtLeastOne(tc.planned)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("of %d (-want +got):\n%s", tc.planned, diff)
			}
			if amount.String() != tc.text {
				t.Errorf("%q is written back as %q", tc.text, amount)
			}
		})
	}
}

func TestAmountsThatMeanNothingAreRefused(t *testing.T) {
	for _, text := range []string{"", "%", "150%", "-5%", "-1", "+3", "10.5", "ten", "5 %", "101%"} {
		if amount, err := policy.ParseAmount(text); err == nil {
			t.Errorf("%q is read as %v", text, amount)
		}
	}
}
