// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/windlass-dev/windlass/cmd/windlass/form"
	"github.com/windlass-dev/windlass/cmd/windlass/report"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// version is what a build tells of itself.
type version struct {
	Windlass string `json:"windlass"`
	HubAPI   string `json:"hubAPI"`
	Report   string `json:"report"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (v version) text(out io.Writer) error {
	_, err := fmt.Fprintf(out, "windlass %s\nhub API %s\nreport  %s\nbuilt   %s %s\n", v.Windlass, v.HubAPI, v.Report, v.Go, v.Platform)
	return err
}

// versionCommand prints what this program was built from and what it speaks.
func versionCommand() *cobra.Command {
	output := ""
	command := &cobra.Command{
		Use:   "version",
		Short: "Print what this program was built from, and the API it reads",
		Args:  flagsAlone,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := form.Check(output, "text"); err != nil {
				return err
			}
			info, _ := debug.ReadBuildInfo()
			v := version{
				built(info), fleetv1.GroupVersion.String(), report.APIVersion, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH,
			}
			return form.Print(c.OutOrStdout(), output, v, v.text)
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "text", "Form of what is printed: text, json or yaml")
	return command
}

// built is the version of the module and the commit, as far as the build recorded them.
func built(info *debug.BuildInfo) string {
	if info == nil {
		return "(unknown)"
	}
	version, commit, dirty := info.Main.Version, "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = " commit " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " (modified)"
		}
	}
	if version == "" {
		version = "(devel)"
	}
	return version + commit + dirty
}
