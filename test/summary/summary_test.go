// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSummary(t *testing.T) {
	const pkg = `"Package":"github.com/windlass-dev/windlass/policy"`
	tests := map[string]struct {
		events    []string
		want      string
		wantError string
	}{
		"tests are counted, and a package says how long it took": {
			events: []string{
				`{"Action":"pass",` + pkg + `,"Test":"TestA"}`, `{"Action":"pass",` + pkg + `,"Test":"TestA/one"}`,
				`{"Action":"pass",` + pkg + `,"Elapsed":1.25}`,
			},
			want: "ok     policy                                   1.2s  2 tests\n1 packages with tests: 2 tests\n",
		},
		"the specs of a suite are counted": {
			events: []string{
				`{"Action":"output",` + pkg + `,"Test":"TestAPI","Output":"Ran 69 of 69 Specs in 6.8 seconds\n"}`,
				`{"Action":"output",` + pkg + `,"Test":"TestAPI",` +
					`"Output":"SUCCESS! -- 69 Passed | 0 Failed | 0 Pending | 0 Skipped\n"}`,
				`{"Action":"pass",` + pkg + `,"Test":"TestAPI"}`, `{"Action":"pass",` + pkg + `,"Elapsed":8}`,
			},
			want: "ok     policy                                   8.0s  1 tests, 69 specs\n1 packages with tests: 1 tests, 69 specs\n",
		},
		"a failure shows its output": {
			events: []string{
				`{"Action":"output",` + pkg + `,"Test":"TestA","Output":"got 1\n"}`,
				`{"Action":"fail",` + pkg + `,"Test":"TestA"}`, `{"Action":"fail",` + pkg + `,"Elapsed":1}`,
			},
			want: "FAILED policy                                   1.0s  1 tests, 1 failed\ngot 1\n" +
				"1 packages with tests: 1 tests, 1 failed\n",
		},
		"a skipped test is an error": {
			events: []string{
				`{"Action":"skip",` + pkg + `,"Test":"TestA"}`, `{"Action":"pass",` + pkg + `,"Elapsed":1}`,
			},
			want:      "ok     policy                                   1.0s  0 tests, 1 skipped\n1 packages with tests: 0 tests, 1 skipped\n",
			wantError: "tests were skipped",
		},
		"a pending spec is an error": {
			events: []string{
				`{"Action":"output",` + pkg + `,"Output":"SUCCESS! -- 1 Passed | 0 Failed | 2 Pending | 1 Skipped\n"}`,
				`{"Action":"pass",` + pkg + `,"Elapsed":1}`,
			},
			want: "ok     policy                                   1.0s  0 tests, 3 skipped\n" +
				"SUCCESS! -- 1 Passed | 0 Failed | 2 Pending | 1 Skipped\n1 packages with tests: 0 tests, 3 skipped\n",
			wantError: "tests were skipped",
		},
		"what the compiler says is shown": {
			events: []string{`{"ImportPath":"x","Action":"build-output","Output":"x.go:1: oops\n"}`},
			want:   "x.go:1: oops\n0 packages with tests: 0 tests\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			s := newSummary(&out)
			if err := s.read(strings.NewReader(strings.Join(tc.events, "\n"))); err != nil {
				t.Fatal(err)
			}
			failure := ""
			if err := s.totals(); err != nil {
				failure = err.Error()
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantError, failure); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
