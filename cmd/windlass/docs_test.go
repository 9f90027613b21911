// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/windlass-dev/windlass/cmd/windlass/report"
	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/policy"
)

const repository = "../.."

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sources parses the Go files of a tree, without tests.
func sources(t *testing.T, tree string) []*ast.File {
	t.Helper()
	var files []*ast.File
	err := filepath.WalkDir(filepath.Join(repository, tree), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		files = append(files, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// constants are the string constants of a tree by name; one without a literal has an empty value.
func constants(files []*ast.File, wanted func(name, kind string) bool) map[string]string {
	found := map[string]string{}
	for _, file := range files {
		for _, d := range file.Decls {
			group, is := d.(*ast.GenDecl)
			if !is || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				spec := s.(*ast.ValueSpec)
				kind, _ := spec.Type.(*ast.Ident)
				if kind == nil {
					kind = &ast.Ident{}
				}
				for i, name := range spec.Names {
					if !wanted(name.Name, kind.Name) || i >= len(spec.Values) {
						continue
					}
					found[name.Name] = ""
					if literal, is := spec.Values[i].(*ast.BasicLit); is {
						found[name.Name], _ = strconv.Unquote(literal.Value)
					}
				}
			}
		}
	}
	return found
}

// written are the reasons that the code can write: those of the decisions and those of the API.
func written(t *testing.T) map[string]bool {
	t.Helper()
	words := map[string]bool{}
	trees := append(sources(t, "policy"), sources(t, "fleet")...)
	for name, value := range constants(trees, func(n, _ string) bool { return strings.HasPrefix(n, "Reason") }) {
		if value == "" {
			value = strings.TrimPrefix(name, "Reason")
		}
		words[value] = true
	}
	for _, value := range constants(sources(t, "fleet/api"), func(n, _ string) bool { return strings.HasSuffix(n, "Reason") }) {
		words[value] = true
	}
	return words
}

// explained are the first two cells of the rows of docs/status.md that explain a reason.
func explained(t *testing.T) map[string]string {
	t.Helper()
	_, reasons, found := strings.Cut(page(t, "docs/status.md"), "## Reasons of a ManagementCluster")
	if !found {
		t.Fatal("docs/status.md has no reasons")
	}
	rows := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\| ?([a-z]*) ?\\|")
	for _, row := range row.FindAllStringSubmatch(reasons, -1) {
		rows[row[1]] = row[2]
	}
	return rows
}

func TestEveryReasonIsExplainedAndNoOther(t *testing.T) {
	want, got := map[string]bool{}, map[string]bool{}
	for word := range written(t) {
		want[word] = true
	}
	for word := range explained(t) {
		got[word] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons (-in the code +in docs/status.md):\n%s", diff)
	}
}

func TestTheReasonsThatNeedAnActAreMarkedSo(t *testing.T) {
	for word, until := range explained(t) {
		if policy.NeedsAct(word) && until != "act" {
			t.Errorf("docs/status.md: %s is until %q, and nothing moves until a person acts", word, until)
		}
	}
}

func TestEveryStateOfAMachineIsExplained(t *testing.T) {
	states := constants(sources(t, "engine/protocol"), func(_, kind string) bool { return kind == "State" })
	words := []string{report.MachineDone, report.MachineQuarantined, report.MachineWaiting, report.MachineUnknown}
	for _, value := range states {
		words = append(words, value)
	}
	text := page(t, "docs/status.md")
	for _, word := range words {
		if !strings.Contains(text, "| `"+word+"` |") {
			t.Errorf("docs/status.md does not explain the state %s", word)
		}
	}
}

func TestEveryFieldOfTheReportIsDocumented(t *testing.T) {
	text := page(t, "docs/cli.md")
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(kind reflect.Type) {
		for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice {
			kind = kind.Elem()
		}
		if kind.Kind() != reflect.Struct || seen[kind] || !strings.HasSuffix(kind.PkgPath(), "/cmd/windlass/report") {
			return
		}
		seen[kind] = true
		for field := range kind.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "`"+name+":") {
				t.Errorf("docs/cli.md does not say what %s.%s is", kind.Name(), name)
			}
			visit(field.Type)
		}
	}
	visit(reflect.TypeFor[report.Report]())
}

func TestThePolicyOfTheReadmeIsOne(t *testing.T) {
	_, text, _ := strings.Cut(page(t, "README.md"), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	var p fleetv1.RolloutPolicy
	if err := yaml.UnmarshalStrict([]byte(text), &p); err != nil || p.Name == "" || len(p.Spec.Waves) == 0 {
		t.Errorf("%v in\n%s", err, text)
	}
}

// pages are all pages of the repository.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range found {
			name, err := filepath.Rel(repository, path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, name)
		}
	}
	return all
}

// anchors are what can be linked to in a page, as the forges make it of headings.
func anchors(text string) map[string]bool {
	all := map[string]bool{"": true}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		plain := regexp.MustCompile(`[^\p{L}\p{N}\- _]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		all["#"+strings.ReplaceAll(plain, " ", "-")] = true
	}
	return all
}

func TestLinksLeadSomewhere(t *testing.T) {
	for _, from := range pages(t) {
		for _, link := range regexp.MustCompile(`\]\(([^)#:\s]*)(#[^)]*)?\)`).FindAllStringSubmatch(page(t, from), -1) {
			to := filepath.Join(filepath.Dir(from), link[1])
			if link[1] == "" {
				to = from
			}
			if _, err := os.Stat(filepath.Join(repository, to)); err != nil {
				t.Errorf("%s links to %s: %v", from, link[1], err)
			} else if strings.HasSuffix(to, ".md") && !anchors(page(t, to))[link[2]] {
				t.Errorf("%s links to %s, which has no heading %s", from, to, link[2])
			}
		}
	}
}

func TestEveryPageIsInAnIndex(t *testing.T) {
	for _, name := range pages(t) {
		folder, base := filepath.Split(name)
		if base == "README.md" {
			continue
		}
		if !strings.Contains(page(t, folder+"README.md"), "]("+base+")") {
			t.Errorf("%sREADME.md does not list %s", folder, base)
		}
	}
}

func TestTheExamplesOfPlanAndSimulateAreWhatTheyPrint(t *testing.T) {
	text := page(t, "docs/cli.md")
	for _, name := range []string{"plan.txt", "simulation.txt"} {
		if !strings.Contains(text, page(t, filepath.Join("cmd/windlass/trial/testdata", name))) {
			t.Errorf("docs/cli.md does not show cmd/windlass/trial/testdata/%s as it is", name)
		}
	}
}
