// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/test/env"
)

// systemNamespace is where the shipped manifests put the programs.
const systemNamespace = "windlass-system"

// config is a folder of the shipped manifests.
func (f *Fleet) config(folder string) string { return filepath.Join(f.World.Root(), "config", folder) }

// account applies the manifests of folders below config/ and returns a kubeconfig of one of their service accounts: the
// programs run here with the rights that they are shipped with, and with no others.
func (f *Fleet) account(ctx context.Context, s *env.Server, name string, folders ...string) ([]byte, error) {
	for _, folder := range folders {
		if err := f.apply(ctx, s, f.config(folder)); err != nil {
			return nil, fmt.Errorf("applying config/%s to %s: %w", folder, s.Name, err)
		}
	}
	c, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		return nil, err
	}
	day := int64(24 * 60 * 60)
	token, err := c.CoreV1().ServiceAccounts(systemNamespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &day},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("asking %s for a token of %s: %w", s.Name, name, err)
	}
	return kubeconfig(s.Name, s.Config, token.Status.Token)
}

// apply makes the objects of a folder that are about rights: accounts, roles and bindings. Namespaces come first.
func (f *Fleet) apply(ctx context.Context, s *env.Server, folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return err
	}
	var later []*unstructured.Unstructured
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		objects, err := read(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, o := range objects {
			switch o.GetKind() {
			case "Namespace":
				if err := client.IgnoreAlreadyExists(s.Client.Create(ctx, o)); err != nil {
					return err
				}
			case "ServiceAccount", "Role", "RoleBinding":
				if o.GetNamespace() == "" {
					o.SetNamespace(systemNamespace) // as kustomize does
				}
				later = append(later, o)
			case "ClusterRole", "ClusterRoleBinding":
				later = append(later, o)
			}
		}
	}
	for _, o := range later {
		if err := client.IgnoreAlreadyExists(s.Client.Create(ctx, o)); err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

func read(file string) ([]*unstructured.Unstructured, error) {
	r, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	var objects []*unstructured.Unstructured
	for d := yaml.NewYAMLOrJSONDecoder(r, 4096); ; {
		o := &unstructured.Unstructured{}
		switch err := d.Decode(o); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case o.GetKind() != "":
			objects = append(objects, o)
		}
	}
}

func kubeconfig(name string, cfg *rest.Config, token string) ([]byte, error) {
	c := clientcmdapi.NewConfig()
	c.Clusters[name] = &clientcmdapi.Cluster{Server: cfg.Host, CertificateAuthorityData: cfg.CAData}
	c.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	c.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	c.CurrentContext = name
	return clientcmd.Write(*c)
}
