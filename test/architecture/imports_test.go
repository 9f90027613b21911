// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package architecture_test claims that the module's imports point inward, as section 3 of DESIGN.md draws them: an
// import that leaks fails here, and the failure names its path.
package architecture_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	module = "github.com/windlass-dev/windlass"
	root   = "../.."
)

// rule says what a tree's non-test files must not reach, neither directly nor through other packages of this module.
type rule struct {
	// tree the rule is for, below the module. A rule for a tree holds for its subtrees too.
	tree string
	// never lists trees that must not be reached.
	never []string
	// but lists trees within never that may be reached.
	but []string
	// only, where given, lists all that may be reached beside the tree itself and the standard library.
	only []string
}

func rules() []rule {
	const (
		apimachinery = "k8s.io/apimachinery"
		// apimachinery's own decoder, which alone tells the fields that a type lacks.
		apimachineryJSON = "sigs.k8s.io/json"

		multicluster = "sigs.k8s.io/multicluster-runtime"
	)
	ours := func(trees ...string) []string {
		for i, tree := range trees {
			trees[i] = module + "/" + tree
		}
		return trees
	}
	clients := []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime", multicluster}
	return []rule{
		{tree: "policy", only: []string{"github.com/Masterminds/semver/v3"}},
		{tree: "policy/window", only: []string{}},
		{tree: "policy/version", never: ours("policy"), but: ours("policy/version")},
		{tree: "engine/protocol", only: []string{}},
		{tree: "engine/capi", only: []string{apimachinery}},
		{tree: "engine", never: append(ours("fleet", "policy", "test", "cmd"), multicluster)},
		{tree: "fleet/api", only: []string{apimachinery, apimachineryJSON}},
		{tree: "fleet/report", never: clients},
		{tree: "fleet", never: ours("engine", "test", "cmd"), but: ours("engine/protocol", "engine/capi")},
		{tree: "cmd", never: ours("test")},
	}
}

func TestImportsPointInward(t *testing.T) {
	direct := importsByPackage(t)
	for _, r := range rules() {
		t.Run(r.tree, func(t *testing.T) {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(direct)), func(pkg string) bool {
				return under(pkg, module+"/"+r.tree)
			}) {
				t.Fatalf("no package below %s: the rule guards nothing", r.tree)
			}
			for _, leak := range r.leaks(direct) {
				t.Error(leak)
			}
		})
	}
}

// TestLeaksAreFound keeps the walk itself honest, on modules that are made up.
func TestLeaksAreFound(t *testing.T) {
	const policy, window, fleet, engine = module + "/policy", module + "/policy/window", module + "/fleet", module + "/engine"
	tests := map[string]struct {
		rule   rule
		direct map[string][]string
		want   []string
	}{
		"what is not forbidden may be imported": {
			rule:   rule{tree: "policy", never: []string{fleet}},
			direct: map[string][]string{policy: {"time", window}, window: {"k8s.io/utils/clock"}},
		},
		"a direct import of what is forbidden": {
			rule:   rule{tree: "policy", never: []string{"k8s.io"}},
			direct: map[string][]string{policy: {"k8s.io/utils/clock"}},
			want:   []string{"policy must not reach k8s.io/utils/clock: policy → k8s.io/utils/clock"},
		},
		"one through a package that may be imported": {
			rule:   rule{tree: "policy", never: []string{fleet}},
			direct: map[string][]string{policy: {window}, window: {fleet + "/drive"}},
			want: []string{
				"policy must not reach fleet/drive: policy → policy/window → fleet/drive",
				"policy/window must not reach fleet/drive: policy/window → fleet/drive",
			},
		},
		"a name that only begins like a forbidden one": {
			rule:   rule{tree: "policy", never: []string{fleet}},
			direct: map[string][]string{policy: {fleet + "ing"}},
		},
		"an exception within what is forbidden": {
			rule:   rule{tree: "fleet", never: []string{engine}, but: []string{engine + "/protocol"}},
			direct: map[string][]string{fleet: {engine + "/protocol", engine + "/lock"}},
			want:   []string{"fleet must not reach engine/lock: fleet → engine/lock"},
		},
		"a list of all that may be reached": {
			rule:   rule{tree: "policy", only: []string{"example.com/cron"}},
			direct: map[string][]string{policy: {"time", "net/http", "example.com/cron/v3", window, "example.com/other"}},
			want:   []string{"policy must not reach example.com/other: policy → example.com/other"},
		},
		"an empty list leaves the standard library": {
			rule:   rule{tree: "policy", only: []string{}},
			direct: map[string][]string{policy: {"strings", "k8s.io/api"}},
			want:   []string{"policy must not reach k8s.io/api: policy → k8s.io/api"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.rule.leaks(tc.direct)); diff != "" {
				t.Errorf("leaks (-want +got):\n%s", diff)
			}
		})
	}
}

// leaks are the imports that break the rule, each with the path that leads to it.
func (r rule) leaks(direct map[string][]string) []string {
	var found []string
	for _, pkg := range slices.Sorted(maps.Keys(direct)) {
		if !under(pkg, module+"/"+r.tree) {
			continue
		}
		via := reach(direct, pkg)
		for _, reached := range slices.Sorted(maps.Keys(via)) {
			if r.forbids(reached) {
				found = append(found, fmt.Sprintf("%s must not reach %s: %s", short(pkg), short(reached), trail(via, pkg, reached)))
			}
		}
	}
	return found
}

func (r rule) forbids(reached string) bool {
	within := func(trees []string) bool {
		return slices.ContainsFunc(trees, func(tree string) bool { return under(reached, tree) })
	}
	if within(r.never) && !within(r.but) {
		return true
	}
	return r.only != nil && !standard(reached) && !under(reached, module+"/"+r.tree) && !within(r.only)
}

// importsByPackage parses the imports of every non-test file of this module; nested modules are not part of it. The
// files are opened here, not by `go list`, so that go test's cache sees them change.
func importsByPackage(t *testing.T) map[string][]string {
	t.Helper()
	direct := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return skipped(file)
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		return addImports(direct, file)
	})
	if err != nil {
		t.Fatal(err)
	}
	return direct
}

// skipped leaves out hidden folders, test data, binaries and nested modules.
func skipped(dir string) error {
	if dir == root {
		return nil
	}
	name := filepath.Base(dir)
	nested, err := filepath.Glob(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	if strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || len(nested) > 0 {
		return filepath.SkipDir
	}
	return nil
}

func addImports(direct map[string][]string, file string) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	dir, err := filepath.Rel(root, filepath.Dir(file))
	if err != nil {
		return err
	}
	pkg := path.Join(module, filepath.ToSlash(dir))
	direct[pkg] = slices.Clip(direct[pkg]) // a package without imports counts too
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		direct[pkg] = append(direct[pkg], name)
	}
	return nil
}

// reach maps each import path reachable from pkg to the package that imports it, on a shortest path.
func reach(direct map[string][]string, pkg string) map[string]string {
	via, queue := map[string]string{}, []string{pkg}
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		for _, to := range direct[from] {
			if _, seen := via[to]; !seen {
				via[to] = from
				queue = append(queue, to)
			}
		}
	}
	return via
}

// trail writes the path from pkg to what it reaches.
func trail(via map[string]string, pkg, reached string) string {
	steps := []string{short(reached)}
	for at := via[reached]; at != pkg; at = via[at] {
		steps = append(steps, short(at))
	}
	steps = append(steps, short(pkg))
	slices.Reverse(steps)
	return strings.Join(steps, " → ")
}

func short(pkg string) string { return strings.TrimPrefix(pkg, module+"/") }

// standard reports whether an import path is of the standard library: its first element has no dot.
func standard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}

// under reports whether the import path name is tree or lies below it.
func under(name, tree string) bool { return name == tree || strings.HasPrefix(name, tree+"/") }
