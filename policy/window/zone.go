// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zone data also where the image has none (C144)
)

// areas are the first parts of the names of regions. Others, such as Etc, hold fixed offsets, or zones that count leap
// seconds.
var areas = []string{
	"Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Brazil", "Canada", "Chile",
	"Europe", "Indian", "Mexico", "Pacific", "US",
}

// zoneName is the shape of a region's name. Nothing else reaches the loader, which would read it as a path.
var zoneName = regexp.MustCompile(`^[A-Z][A-Za-z]*(/[A-Z][A-Za-z_-]*){1,2}$`)

const acceptedZones = "a region such as Europe/Berlin, or UTC"

// loadZone loads a region's zone, and UTC for the empty name.
func loadZone(name string) (*time.Location, *complaint) {
	area, _, _ := strings.Cut(name, "/")
	switch {
	case name == "", name == "UTC", name == "Etc/UTC":
		return time.UTC, nil
	case strings.EqualFold(name, "Local"):
		return nil, complain(name, acceptedZones, "the zone of whatever machine the hub runs on is no zone to plan with")
	case fixedOffset.MatchString(name):
		return nil, complain(name, acceptedZones, "is a fixed offset or an abbreviation, which does not follow the "+
			"clock of a place")
	case !zoneName.MatchString(name) || !slices.Contains(areas, area):
		return nil, complain(name, acceptedZones, "is not the name of a region; names are case-sensitive")
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, complain(name, acceptedZones, "is not in the zone data (%s); names are case-sensitive", ZoneData())
	}
	return location, nil
}

// fixedOffset is the shape of names such as EST, GMT+2, UTC+02:00, +02:00, EST5EDT and Etc/GMT-2.
var fixedOffset = regexp.MustCompile(`^(Etc/[A-Za-z]{1,9})?([A-Z]{1,5})?([+-]?[0-9:]{1,5}([A-Z]{3,4})?)?$`)

// places are where zone data is looked for before the embedded one, as package time does.
var places = []string{"/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo"}

// ZoneData says which zone data is used, with its version where that can be known: that of the machine if it has any,
// else the embedded one, which is that of the Go release the program was built with.
func ZoneData() string {
	sources := places
	if set := os.Getenv("ZONEINFO"); set != "" {
		sources = append([]string{set}, places...)
	}
	for _, source := range sources {
		probe := filepath.Join(source, "Europe", "Berlin")
		if filepath.Ext(source) == ".zip" {
			probe = source
		}
		if _, err := os.Stat(probe); err != nil {
			continue
		}
		if version := zoneVersion(source); version != "" {
			return version + " from " + source
		}
		return "of unknown version from " + source
	}
	return "embedded with " + runtime.Version()
}

// zoneVersion reads the version that a directory of zone data states, as distributions do in one of two files.
func zoneVersion(dir string) string {
	if text, err := os.ReadFile(filepath.Join(dir, "+VERSION")); err == nil {
		return strings.TrimSpace(string(text))
	}
	text, err := os.ReadFile(filepath.Join(dir, "tzdata.zi"))
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), "\n")
	version, found := strings.CutPrefix(first, "# version ")
	if !found {
		return ""
	}
	return strings.TrimSpace(version)
}
