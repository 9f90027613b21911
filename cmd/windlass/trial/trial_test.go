// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/windlass-dev/windlass/cmd/windlass/files"
	"github.com/windlass-dev/windlass/cmd/windlass/rehearse"
	"github.com/windlass-dev/windlass/cmd/windlass/trial"
)

// Run with -update to write the golden files after a change that is meant.
var update = flag.Bool("update", false, "write the golden files")

const fleet = "testdata/fleet.yaml"

var now = time.Date(2026, 12, 28, 0, 0, 0, 0, time.UTC)

func common(paths ...string) trial.Common {
	return trial.Common{Files: paths, Zone: "UTC", From: "2026-12-28"}
}

func simulated(t *testing.T, s trial.Simulation) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.Run(&out, now); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func noHub(string) (*files.Objects, error) { return nil, errors.New("a hub was asked") }

func planned(t *testing.T, p trial.Planning) string {
	t.Helper()
	var out bytes.Buffer
	if err := p.Run(&out, now, noHub); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// golden compares a text with a file. Digests change with what they cover, which is not what is tested here.
func golden(t *testing.T, name, got string) {
	t.Helper()
	got = regexp.MustCompile(`plan [0-9a-f]{20}`).ReplaceAllString(got, "plan <digest>")
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
	for line := range strings.Lines(got) {
		if width := len([]rune(strings.TrimSuffix(line, "\n"))); width > 120 {
			t.Errorf("%s: %d columns: %s", name, width, line)
		}
	}
}

func TestASimulationReadsLikeACalendarOverTheEndOfAYear(t *testing.T) {
	golden(t, "simulation.txt", simulated(t, trial.Simulation{Common: common(fleet), Events: "testdata/events.yaml"}))
}

func TestAPlanReadsLikeATimetable(t *testing.T) {
	golden(t, "plan.txt", planned(t, trial.Planning{Common: common(fleet)}))
}

func TestTimesAreShownInTheZoneThatIsAskedFor(t *testing.T) {
	c := common(fleet)
	c.Zone = "America/New_York"
	out := simulated(t, trial.Simulation{Common: c, Approve: true})
	for _, want := range []string{
		"Played from Mon 2026-12-28 00:00 on; all times are America/New_York.", "Mon 2026-12-28 16:00", "America/New_York, after",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

func TestWithoutApprovalsItSaysThatItWaitsForAPersonAndHowToTakeThemAsGiven(t *testing.T) {
	out := simulated(t, trial.Simulation{Common: common(fleet)})
	for _, want := range []string{
		"It does not end: AwaitingApproval: wave rest has 0 of 1 approvals", "--approve", "NOT BEGUN (3): 3 of rest",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
	if out := simulated(t, trial.Simulation{Common: common(fleet), Approve: true}); !strings.Contains(out, "\nSucceeded on ") {
		t.Errorf("with approvals given it does not end:\n%s", out)
	}
}

func TestJSONAndYAMLSayTheSame(t *testing.T) {
	decode := func(form string) rehearse.Outlook {
		c := common(fleet)
		c.Output = form
		var o rehearse.Outlook
		if err := yaml.UnmarshalStrict([]byte(simulated(t, trial.Simulation{Common: c, Approve: true})), &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	fromJSON, fromYAML := decode("json"), decode("yaml")
	if diff := cmp.Diff(fromJSON, fromYAML); diff != "" {
		t.Errorf("(-json +yaml):\n%s", diff)
	}
	if fromJSON.Planned != 5 || fromJSON.Phase != "Succeeded" || len(fromJSON.Waves) != 3 {
		t.Errorf("%d planned, %s, %d waves", fromJSON.Planned, fromJSON.Phase, len(fromJSON.Waves))
	}
	c := common(fleet)
	c.Output = "json"
	var p rehearse.Preview
	if err := json.Unmarshal([]byte(planned(t, trial.Planning{Common: c})), &p); err != nil {
		t.Fatal(err)
	}
	if got := p.Waves[0].Clusters[0].Owners[0].Name; got != "a-1-cp" {
		t.Errorf("the first owner is %q", got)
	}
}

func TestThePictureIsXMLWithABarForEachCluster(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.svg")
	simulated(t, trial.Simulation{Common: common(fleet), Events: "testdata/events.yaml", SVG: path})
	picture, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bars := map[string]int{}
	for decoder := xml.NewDecoder(bytes.NewReader(picture)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, is := token.(xml.CharData); is && strings.HasPrefix(string(text), "mgmt-") && strings.Contains(string(text), ": ") {
			bars[string(text[strings.LastIndex(string(text), ", ")+2:])]++
		}
	}
	if diff := cmp.Diff(map[string]int{"done": 4, "failed": 1, "put off": 1}, bars); diff != "" {
		t.Errorf("bars (-want +got):\n%s", diff)
	}
}

func TestTheLogComesFirstAndNamesClusters(t *testing.T) {
	c := common(fleet)
	c.Zone = "Europe/Berlin"
	out := simulated(t, trial.Simulation{Common: c, Approve: true, Log: true})
	for _, want := range []string{
		"2026-12-28 22:50  mgmt-a/shop/a-1 is done: 5 of 5 machines\n",
		"2026-12-28 22:00  mgmt-a/shop/a-1 begins, machines may begin until Mon 2026-12-28 23:50\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

func TestFlagsThatCannotBeReadAreNamedWithAnAcceptedForm(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*trial.Simulation)
		says string
	}{
		"no file":        {func(s *trial.Simulation) { s.Files = nil }, "accepted: -f policy.yaml"},
		"a bad date":     {func(s *trial.Simulation) { s.From = "1st of May" }, `--from "1st of May" is neither a date nor an instant; accepted: 2026-12-01`},
		"a bad end":      {func(s *trial.Simulation) { s.Until = "never" }, `--until "never"`},
		"an early end":   {func(s *trial.Simulation) { s.Until = "2026-12-01" }, "is not after --from"},
		"a bad zone":     {func(s *trial.Simulation) { s.Zone = "Berlin" }, `--zone "Berlin" is no time zone; accepted: a region`},
		"no zone":        {func(s *trial.Simulation) { s.Zone = "" }, "accepted: a region"},
		"a bad form":     {func(s *trial.Simulation) { s.Output = "xml" }, "accepted: text, json, yaml"},
		"another policy": {func(s *trial.Simulation) { s.Policy = "smal" }, `no RolloutPolicy is called "smal"; accepted: small`},
		"no such events": {func(s *trial.Simulation) { s.Events = "nowhere.yaml" }, "nowhere.yaml"},
		"no such folder": {func(s *trial.Simulation) { s.SVG = "/nowhere/x.svg" }, "--svg: open /nowhere/x.svg"},
	} {
		t.Run(name, func(t *testing.T) {
			s := trial.Simulation{Common: common(fleet), Approve: true}
			tc.edit(&s)
			err := s.Run(io.Discard, now)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("said %v, want %q in it", err, tc.says)
			}
		})
	}
}

func TestFromTakesADateAnInstantAndALocalTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-12-29": "Tue 2026-12-29 00:00", "2026-12-29T01:00:00+01:00": "Tue 2026-12-29 01:00", "2026-12-29T07:30": "Tue 2026-12-29 07:30",
		"": "Mon 2026-12-28 01:00",
	} {
		c := common(fleet)
		c.From, c.Zone = text, "Europe/Berlin"
		if out := simulated(t, trial.Simulation{Common: c, Approve: true}); !strings.Contains(out, "Played from "+want+" on") {
			t.Errorf("--from %q:\n%s", text, out)
		}
	}
}
