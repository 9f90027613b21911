// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Command tour shows the hub's API on a real API server: the shipped samples, which it accepts, and a policy that is
// spoilt in one way after another, with the words in which each is refused. Nothing is upgraded; the demo does that.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/env"
)

// samples are shown in this order; the last is the one that is spoilt.
func samples() []string { return []string{"managementcluster.yaml", "rolloutpolicy.yaml"} }

// mistake spoils the text of the sample policy.
type mistake struct{ what, before, after string }

func mistakes() []mistake {
	return []mistake{
		{"an empty channel", "channel: 1.33-classic/stable", `channel: ""`},
		{"a revision without its version", "channel: 1.33-classic/stable\n    version: v1.33.9", `revision: "640"`},
		{"a selector that would take every cluster", "selector:\n      matchLabels:\n        tier: prod", "selector: {}"},
		{"a canary without its management cluster", "mgmt-a/shop/eu-1", "eu-1"},
		{"a wave that takes nothing", "percent: 40", "percent: 0"},
		{"a wave that takes two things", "percent: 40", "percent: 40\n    names: [mgmt-a/shop/eu-2]"},
		{"not a word about when", "  anyTime: true\n", ""},
		{"a field that is not built yet", "  anyTime: true\n", "  anyTime: true\n  priority: 5\n"},
		{"a misspelt field", "maxFailures: 1", "maxFailure: 1"},
		{
			"a misspelt field that would widen the rollout",
			"      matchLabels:", "      matchExpresions: [{key: region, operator: Exists}]\n      matchLabels:",
		},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := tour(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "tour failed:", err)
		os.Exit(1)
	}
}

func tour(ctx context.Context, out io.Writer) (err error) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	say("Starting a real API server with the hub's kinds …")
	world, err := env.Start(ctx, env.Options{Log: out})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	hub, err := world.Hub(ctx, fleetv1.AddToScheme)
	if err != nil {
		return err
	}
	ask := asker(client.WithFieldValidation(hub.Client, metav1.FieldValidationIgnore)) // nothing hangs on the client
	var text string
	for _, name := range samples() {
		data, err := os.ReadFile(filepath.Join("config", "samples", name))
		if err != nil {
			return err
		}
		_, text, _ = strings.Cut(string(data), "\n\n") // without its licence
		say("\nconfig/samples/%s\n\n%s", name, text)
		if err := ask(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		say("  accepted")
	}
	say("\nThe same policy, spoilt. The API server refuses each by itself, however lenient the client; no webhook is needed:\n")
	for _, m := range mistakes() {
		refusal, err := refused(ctx, ask, text, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.what, err)
		}
		say("  %s\n    %s\n", m.what, refusal)
	}
	say("docs/spec explains every field. make demo upgrades six clusters with such a policy.")
	return nil
}

// asker asks an API server whether it would take a text, and leaves nothing behind.
func asker(hub client.Client) func(ctx context.Context, text string) error {
	return func(ctx context.Context, text string) error {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			return err
		}
		return hub.Create(ctx, o, client.DryRunAll)
	}
}

// refused is what the API server says to a spoilt text. That it says yes is an error: the tour would be untrue.
func refused(ctx context.Context, ask func(context.Context, string) error, text string, m mistake) (string, error) {
	spoilt := strings.Replace(text, m.before, m.after, 1)
	if spoilt == text {
		return "", fmt.Errorf("the sample has no %q to spoil", m.before)
	}
	err := ask(ctx, spoilt)
	if err == nil {
		return "", errors.New("it was accepted")
	}
	if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		return "", err
	}
	return err.Error(), nil
}
