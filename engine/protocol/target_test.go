// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-dev/windlass/engine/protocol"
)

func TestParseTargetAccepts(t *testing.T) {
	cases := map[string]struct {
		text   string
		option protocol.Option
		value  string
	}{
		"a channel":                    {"channel=1.34-classic/stable", protocol.Channel, "1.34-classic/stable"},
		"a revision":                   {"revision=640", protocol.Revision, "640"},
		"a revision that is no number": {"revision=x1", protocol.Revision, "x1"},
		"a path with a blank":          {"localPath=/a b.snap", protocol.LocalPath, "/a b.snap"},
		"a path without a slash":       {"localPath=k8s.snap", protocol.LocalPath, "k8s.snap"},
		"blanks in the value stay":     {"channel= x ", protocol.Channel, " x "},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := protocol.ParseTarget(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(protocol.Target{Option: c.option, Value: c.value}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.String() != c.text {
				t.Errorf("written as %q, read from %q", got.String(), c.text)
			}
		})
	}
}

func TestC118_ParseTargetRefuses(t *testing.T) {
	cases := map[string]struct{ text, because string }{
		"no text":                        {"", `exactly one "="`},
		"an option alone":                {"channel", `exactly one "="`},
		"two equal signs":                {"channel=a=b", `exactly one "="`},
		"an equal sign at the end":       {"channel=a=", `exactly one "="`},
		"no value, which k8sd refuses":   {"channel=", "value is empty"},
		"an equal sign alone":            {"=", "value is empty"},
		"no option":                      {"=1.34", `unknown option ""`},
		"a blank before the option":      {" channel=x", `unknown option " channel"`},
		"a blank after the option":       {"channel =x", `unknown option "channel "`},
		"another case":                   {"Channel=x", `unknown option "Channel"`},
		"another case of a path":         {"localpath=/x", `unknown option "localpath"`},
		"an option that does not exist":  {"version=v1.34.0", `unknown option "version"`},
		"a Kubernetes version by itself": {"v1.34.0", `exactly one "="`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := protocol.ParseTarget(c.text)
			if err == nil {
				t.Fatalf("read as %+v", got)
			}
			if got != (protocol.Target{}) {
				t.Errorf("a refused text gave %+v", got)
			}
			for _, part := range []string{c.because, "accepted: channel=", "revision=", "localPath="} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error does not say %q: %v", part, err)
				}
			}
		})
	}
}

func TestZeroTargetIsWrittenAsNothing(t *testing.T) {
	if text := (protocol.Target{}).String(); text != "" {
		t.Errorf("written as %q", text)
	}
}

// FuzzTarget: what is accepted is written back as it was read, has one of the three options and a value.
func FuzzTarget(f *testing.F) {
	for _, text := range []string{"channel=1.34/stable", "revision=1", "localPath=/x", "=", "", "a=b=c", "Channel=x"} {
		f.Add(text)
	}
	options := map[protocol.Option]bool{protocol.Channel: true, protocol.Revision: true, protocol.LocalPath: true}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := protocol.ParseTarget(text)
		if err != nil {
			if got != (protocol.Target{}) {
				t.Errorf("refused %q, and yet gave %+v", text, got)
			}
			return
		}
		if got.String() != text {
			t.Errorf("%q is written back as %q", text, got.String())
		}
		if !options[got.Option] || got.Value == "" || strings.Contains(got.Value, "=") {
			t.Errorf("%q was read as %+v", text, got)
		}
	})
}
