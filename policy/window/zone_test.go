// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/windlass-dev/windlass/policy/window"
)

func TestC144_ZoneDataIsInEveryProgramThatHasCalendars(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "zone.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var imports []string
	for _, spec := range file.Imports {
		imports = append(imports, spec.Path.Value)
	}
	if !slices.Contains(imports, `"time/tzdata"`) {
		t.Errorf("zone.go imports %v: without time/tzdata an image that has no zone files has no zones", imports)
	}
}

func TestC144_ZonesAreLoaded(t *testing.T) {
	for zone, open := range map[string]string{
		"Europe/Berlin":    "2026-07-04T00:30Z",
		"America/New_York": "2026-07-04T06:30Z",
		"Asia/Kolkata":     "2026-07-03T20:45Z",
		"Etc/UTC":          "2026-07-04T02:30Z",
		"":                 "2026-07-04T02:30Z",
	} {
		calendar := compile(t, in(zone, cron("0 2 * * *", hour)))
		if !calendar.Open(at(open)) || calendar.Open(at(open).Add(hour)) {
			t.Errorf("%q: 02:30 is not at %s", zone, open)
		}
	}
}

func TestC147_TheVersionOfTheZoneDataIsSaidWhereItIsKnown(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("ZONEINFO", dir)
	want := func(want string) {
		t.Helper()
		if got := window.ZoneData(); got != want {
			t.Errorf("zone data %q, want %q", got, want)
		}
	}
	write("Europe/Berlin", "")
	want("of unknown version from " + dir)
	write("tzdata.zi", "# version 2031a\n# This zic input file is in the public domain.\n")
	want("2031a from " + dir)
	write("+VERSION", "2031b\n")
	want("2031b from " + dir)

	zip := filepath.Join(dir, "zones.zip")
	write("zones.zip", "")
	t.Setenv("ZONEINFO", zip)
	want("of unknown version from " + zip)
}

func TestC147_WithoutFilesItIsThatOfTheGoRelease(t *testing.T) {
	t.Setenv("ZONEINFO", "")
	got := window.ZoneData()
	if _, err := os.Stat("/usr/share/zoneinfo/Europe/Berlin"); err == nil {
		if !strings.HasSuffix(got, " from /usr/share/zoneinfo") {
			t.Errorf("the machine has zone files, and the zone data is %q", got)
		}
		return
	}
	if got != "embedded with "+runtime.Version() {
		t.Errorf("zone data %q", got)
	}
}

// TestTheLastDayOfALeapYearFarAhead: there package time ends a stretch of constant offset before it begins.
func TestTheLastDayOfALeapYearFarAhead(t *testing.T) {
	calendar := compile(t, in("Europe/Berlin", cron("0 2 * * *", hour)))
	for _, day := range []string{"2040-12-30", "2040-12-31", "2041-01-01", "2196-12-31"} {
		opens := at(day + "T01:00Z")
		if !calendar.Open(opens) || calendar.Open(opens.Add(-time.Second)) || calendar.Open(opens.Add(hour)) {
			t.Errorf("it is not open from %s for an hour", opens)
		}
	}
}
