// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// options are what every command has in common: which hub, which namespace.
type options struct {
	flags         *genericclioptions.ConfigFlags
	allNamespaces bool
}

func newOptions() *options { return &options{flags: genericclioptions.NewConfigFlags(true)} }

func (o *options) addFlags(flags *pflag.FlagSet) {
	o.flags.AddFlags(flags)
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Read every namespace of the hub")
}

// hub is a client for the hub, and the namespace to read; an empty one stands for all.
func (o *options) hub() (client.WithWatch, string, error) {
	config, err := o.flags.ToRESTConfig()
	if err != nil {
		return nil, "", fmt.Errorf("finding the hub: %w; name a kubeconfig with --kubeconfig or KUBECONFIG", err)
	}
	if o.nowhere(config) {
		return nil, "", errors.New("finding the hub: no kubeconfig is there; accepted: --kubeconfig, the variable KUBECONFIG, or --server")
	}
	namespace, _, err := o.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("finding the namespace: %w; name one with --namespace", err)
	}
	if o.allNamespaces {
		namespace = ""
	}
	hub, err := connect(config)
	return hub, namespace, err
}

// nowhere: no kubeconfig, no flag and no Pod says where the hub is, and client-go falls back to an address of its own.
func (o *options) nowhere(config *rest.Config) bool {
	raw, err := o.flags.ToRawKubeConfigLoader().RawConfig()
	return err == nil && len(raw.Clusters) == 0 && *o.flags.APIServer == "" && config.Host == "http://localhost:8080"
}

func connect(config *rest.Config) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	if err := fleetv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	hub, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connecting to the hub at %s: %w", config.Host, err)
	}
	return hub, nil
}

// terminal reports whether out is one.
func terminal(out io.Writer) bool {
	file, is := out.(*os.File)
	return is && term.IsTerminal(int(file.Fd()))
}

// complete offers the names of policies to a shell.
func (o *options) complete(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := o.policyNames(c.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (o *options) policyNames(ctx context.Context) ([]string, error) {
	hub, namespace, err := o.hub()
	if err != nil {
		return nil, err
	}
	var list fleetv1.RolloutPolicyList
	if err := hub.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	var names []string
	for _, p := range list.Items {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
