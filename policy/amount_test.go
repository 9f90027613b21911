// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-dev/windlass/policy"
)

func TestLaw5AmountsRoundDownAndConcurrencyIsAtLeastOne(t *testing.T) {
	type counts struct{ Of, AtLeastOne int }
	for name, tc := range map[string]struct {
		text    string
		planned int
		want    counts
	}{
		"C055: 10% of 4 is none, but one moves": {"10%", 4, counts{0, 1}},
		"C055: 25% of 10 is 2":                  {"25%", 10, counts{2, 2}},
		"C055: 100% of 3 is 3":                  {"100%", 3, counts{3, 3}},
		"C055: 1% of 1 is none, but it moves":   {"1%", 1, counts{0, 1}},
		"C057: 25% of 5":                        {"25%", 5, counts{1, 1}},
		"C057: 25% of 199":                      {"25%", 199, counts{49, 49}},
		"C057: 25% of 200":                      {"25%", 200, counts{50, 50}},
		"C057: 25% of 201":                      {"25%", 201, counts{50, 50}},
		"a count is a count, however small":     {"5", 2, counts{5, 5}},
		"no count still moves":                  {"0", 7, counts{0, 1}},
		"of an empty wave":                      {"50%", 0, counts{0, 1}},
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

// A percentage is floor(planned x percent / 100), whatever the size; as a concurrency it is at least one (law 5).
func TestC057OneFormulaForEverySize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		planned, percent := rapid.IntRange(0, 20_000).Draw(t, "planned"), rapid.IntRange(0, 100).Draw(t, "percent")
		amount := policy.Amount{Value: percent, Percent: true}
		want := planned * percent / 100
		if amount.Of(planned) != want || amount.AtLeastOne(planned) != max(1, want) {
			t.Fatalf("%s of %d is %d, at least %d; want %d", amount, planned, amount.Of(planned), amount.AtLeastOne(planned), want)
		}
	})
}

func TestAmountsThatMeanNothingAreRefused(t *testing.T) {
	for _, text := range []string{
		"150%", "-5%", "10.5", // C055
		"", "%", "-1", "-0", "-0%", "+3", "+3%", "ten", "5 %", " 5%", "101%", "1e1", "0x10", "1_0", "5%%", "99999999999999999999",
	} {
		if amount, err := policy.ParseAmount(text); err == nil {
			t.Errorf("%q is read as %v", text, amount)
		}
	}
}

// TestC055AConcurrencyOfNothingIsRefused: 0% would be a wave that never moves, and is not rounded up to one that does.
func TestC055AConcurrencyOfNothingIsRefused(t *testing.T) {
	for name, amount := range map[string]policy.Amount{
		"C055: 0%":   {Percent: true},
		"C055: 150%": {Value: 150, Percent: true},
		"C055: -5%":  {Value: -5, Percent: true},
		"-1":         {Value: -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := policy.MakePlan(policy.PlanInput{
				Target: target, NoCanaries: true, Candidates: numbered("a", 4),
				Waves: []policy.WaveSpec{{Name: "rest", Rest: true, MaxConcurrency: amount}},
			})
			var why *policy.PlanError
			if !errors.As(err, &why) || why.Reason != policy.ReasonInvalidLimit || !strings.Contains(why.Message, "wave rest") {
				t.Errorf("got %v, want InvalidLimit naming the wave", err)
			}
		})
	}
}
