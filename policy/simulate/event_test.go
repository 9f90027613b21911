// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/policy/simulate"
)

// TestAScriptCanBeKeptInAFile writes the script of every film as JSON and plays what is read back.
func TestAScriptCanBeKeptInAFile(t *testing.T) {
	for name, sc := range scenes() {
		for _, s := range sc.tell() {
			want := simulate.Run(s.Input)
			text, err := json.Marshal(s.Script)
			if err != nil {
				t.Fatal(err)
			}
			s.Script = nil
			if err := json.Unmarshal(text, &s.Script); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Film(), simulate.Run(s.Input).Film()); diff != "" {
				t.Errorf("%s, read back from %s, is another film:\n%s", name, text, diff)
			}
		}
	}
}

// TestAnEventOfNoKindIsSaidAndChangesNothing: a misspelt kind does not pass in silence.
func TestAnEventOfNoKindIsSaidAndChangesNothing(t *testing.T) {
	s := six().then(simulate.Event{At: at("01 21:00"), Kind: "HubDwon"})
	film := simulate.Run(s.Input).Film()
	said := "  21:00  * nothing happens, since there is no HubDwon\n"
	if !strings.Contains(film, said) || strings.Replace(film, said, "", 1) != simulate.Run(six().Input).Film() {
		t.Errorf("%s", film)
	}
}
