// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package files reads objects of the hub from YAML or JSON files: what people write, and what kubectl get -o yaml prints
// of an inventory. A field that is not known, or a value that an API server would refuse, is an error in what people write;
// in what the hub writes it is passed over, so that an inventory of a newer hub can be read.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// Objects are the objects of the hub that files hold.
type Objects struct {
	Policies  []*fleetv1.RolloutPolicy
	Members   []*fleetv1.ManagementCluster
	Clusters  []*fleetv1.WorkloadCluster
	Calendars []*fleetv1.MaintenanceCalendar
	Freezes   []*fleetv1.Freeze
	Approvals []*fleetv1.Approval
}

// Stdin is the path that stands for the standard input.
const Stdin = "-"

// Read reads files, the .yaml, .yml and .json files of folders in the order of their names, and what stands for the standard
// input. The error tells of every document that a hub would not take as it is, each with its file and place.
func Read(stdin io.Reader, paths ...string) (*Objects, error) {
	all := &reading{Objects: &Objects{}, seen: map[string]string{}}
	var errs []error
	for _, path := range paths {
		names, err := expand(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, name := range names {
			errs = append(errs, all.readFile(stdin, name))
		}
	}
	return all.Objects, errors.Join(errs...)
}

// Under puts objects under those that are there already: of two with one name the one that is there stays.
func (o *Objects) Under(below *Objects) {
	o.Policies = under(o.Policies, below.Policies)
	o.Members = under(o.Members, below.Members)
	o.Clusters = under(o.Clusters, below.Clusters)
	o.Calendars = under(o.Calendars, below.Calendars)
	o.Freezes = under(o.Freezes, below.Freezes)
	o.Approvals = under(o.Approvals, below.Approvals)
}

func under[T metav1.Object](above, below []T) []T {
	there := map[string]bool{}
	for _, object := range above {
		there[object.GetNamespace()+"/"+object.GetName()] = true
	}
	for _, object := range below {
		if !there[object.GetNamespace()+"/"+object.GetName()] {
			above = append(above, object)
		}
	}
	return above
}

// expand is a file itself, or the manifests of a folder.
func expand(path string) ([]string, error) {
	if path == Stdin {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	var names []string
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && manifest(name) {
			names = append(names, name)
		}
		return err
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s: holds no .yaml, .yml or .json file", path)
	}
	return names, err
}

// manifest tells by its name whether a file of a folder is one. What is kustomize's own is not.
func manifest(name string) bool {
	extension := filepath.Ext(name)
	return slices.Contains([]string{".yaml", ".yml", ".json"}, extension) &&
		strings.TrimSuffix(filepath.Base(name), extension) != "kustomization"
}
