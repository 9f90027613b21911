// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

//go:embed testdata/ck8scontrolplanes.yaml
var controlPlaneCRD []byte

// contractLabel prefixes the label that names the versions of a CRD that fulfil a Cluster API contract.
const contractLabel = "cluster.x-k8s.io/"

// clusterAPIKinds are the kinds that Windlass reads; the others would only cost time.
func clusterAPIKinds() []string {
	return []string{"clusters", "machines", "machinesets", "machinedeployments", "machinepools", "machinehealthchecks"}
}

// clusterAPICRDs reads Cluster API's kinds from its module, served and stored in one version only, without conversion.
func clusterAPICRDs(ctx context.Context, root, version string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	dir, err := moduleDir(ctx, root, "sigs.k8s.io/cluster-api")
	if err != nil {
		return nil, err
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, kind := range clusterAPIKinds() {
		read, err := readCRDs(filepath.Join(dir, "core", "config", "crd", "bases"), "cluster.x-k8s.io_"+kind+".yaml")
		if err != nil {
			return nil, err
		}
		for _, crd := range read {
			onlyVersion(crd, version)
		}
		crds = append(crds, read...)
	}
	var cp apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(controlPlaneCRD, &cp); err != nil {
		return nil, fmt.Errorf("reading the control plane's CRD: %w", err)
	}
	return append(crds, &cp), nil
}

// onlyVersion leaves one version, with the contract labels that a member has that serves it.
func onlyVersion(crd *apiextensionsv1.CustomResourceDefinition, version string) {
	crd.Spec.Versions = slices.DeleteFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name != version
	})
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Served, crd.Spec.Versions[i].Storage = true, true
	}
	crd.Spec.Conversion = nil
	crd.Labels = map[string]string{contractLabel + "v1beta1": "v1beta1"}
	if version != "v1beta1" {
		crd.Labels[contractLabel+version] = version
	}
}

// moduleDir is where the go command keeps the source of a module that our go.mod requires.
func moduleDir(ctx context.Context, root, path string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", path)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("finding module %s: %w\n%s", path, err, out)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		return "", fmt.Errorf("finding module %s: %w", path, err)
	}
	return found.Dir, nil
}

// readCRDs reads the CRDs of the files in dir that match pattern. None is an error.
func readCRDs(dir, pattern string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no CRD in %s", filepath.Join(dir, pattern))
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(data, &crd); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		crds = append(crds, &crd)
	}
	return crds, nil
}

// install creates CRDs and waits until their kinds are served.
func (s *Server) install(ctx context.Context, crds []*apiextensionsv1.CustomResourceDefinition) error {
	for _, crd := range crds {
		if err := s.Client.Create(ctx, crd.DeepCopy()); err != nil {
			return err
		}
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for _, crd := range crds {
		for {
			var got apiextensionsv1.CustomResourceDefinition
			if err := s.Client.Get(ctx, client.ObjectKeyFromObject(crd), &got); err != nil {
				return err
			}
			if established(&got) && s.discovered(&got) {
				break
			}
			select {
			case <-again.C:
			case <-ctx.Done():
				return fmt.Errorf("kind %s is not served: %w: %v", crd.Name, ctx.Err(), got.Status.Conditions)
			}
		}
	}
	return nil
}

// discovered: clients find the kind in every version that is served, which is a moment later than it is established.
func (s *Server) discovered(crd *apiextensionsv1.CustomResourceDefinition) bool {
	kind := schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
	for _, v := range crd.Spec.Versions {
		if !v.Served {
			continue
		}
		if _, err := s.Client.RESTMapper().RESTMapping(kind, v.Name); err != nil {
			return false
		}
	}
	return true
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}
