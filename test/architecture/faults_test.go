// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package architecture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	faultsPage  = "../../docs/engine.md"
	faultsTitle = "## Faults and cases, and their tests"
)

// faultsAndCases are the faults of the existing controllers, by number, and the reports, by id, that the engine answers.
func faultsAndCases() []string {
	var ids []string
	for n := 1; n <= 27; n++ {
		ids = append(ids, fmt.Sprint(n))
	}
	ids = append(ids, "9b")
	for _, n := range []int{94, 95, 96, 99, 100, 101, 102, 103, 104, 105, 106, 107, 109, 110, 114, 115, 117, 118, 142} {
		ids = append(ids, fmt.Sprintf("C%03d", n))
	}
	return ids
}

var (
	faultRow  = regexp.MustCompile(`(?m)^\| (C?\d+b?) \| ([^|]+) \| ([^|]+) \|$`)
	namedTest = regexp.MustCompile("`([^`#]+)#([^`]+)`")
)

// TestEveryFaultAndCaseNamesTestsThatExist holds the table of docs/engine.md to the tests: a row for each fault and
// case, and behind each name a test file of that directory that carries it.
func TestEveryFaultAndCaseNamesTestsThatExist(t *testing.T) {
	page, err := os.ReadFile(faultsPage)
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), faultsTitle)
	if !found {
		t.Fatalf("%s has no section %q", faultsPage, faultsTitle)
	}
	rows := map[string]string{}
	for _, row := range faultRow.FindAllStringSubmatch(table, -1) {
		rows[row[1]] = row[3]
	}
	for _, id := range faultsAndCases() {
		tests := namedTest.FindAllStringSubmatch(rows[id], -1)
		if len(tests) == 0 {
			t.Errorf("%s: no row, or no test in it", id)
		}
		for _, test := range tests {
			if !carries(t, test[1], test[2]) {
				t.Errorf("%s: no test file in %s says %q", id, test[1], test[2])
			}
		}
	}
}

// TestFault27_TheReadmeSaysWhatThereIs: in-place upgrades are what the README begins with, and its index leads to them.
func TestFault27_TheReadmeSaysWhatThereIs(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{"in place", "docs/engine.md", "docs/provider.md"} {
		if !strings.Contains(string(readme), said) {
			t.Errorf("README.md does not say %q", said)
		}
	}
}

func carries(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), name) {
			return true
		}
	}
	return false
}
