// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capistack

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

// install creates the kinds of all providers, and the namespace of their programs.
func (s *Stack) install(ctx context.Context, providers []provider) error {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, p := range providers {
		read, err := s.kinds(p)
		if err != nil {
			return fmt.Errorf("kinds of %s: %w", p.name, err)
		}
		crds = append(crds, read...)
	}
	var created errgroup.Group
	for _, crd := range crds {
		created.Go(func() error { return s.Client.Create(ctx, crd) })
	}
	if err := created.Wait(); err != nil {
		return err
	}
	err := envtest.WaitForCRDs(s.Config, crds, envtest.CRDInstallOptions{
		MaxTime: 10 * time.Minute, PollInterval: 50 * time.Millisecond, // on a busy machine it takes minutes
	})
	if err != nil {
		return err
	}
	return s.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
}

// kinds reads a provider's CRDs and adds what its release has: contract labels and conversion.
func (s *Stack) kinds(p provider) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := filepath.Glob(filepath.Join(p.config, "crd", "bases", p.kinds))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no CRD in %s", p.config)
	}
	url := p.url("/convert")
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(data, crd); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		crd.Labels = map[string]string{
			"cluster.x-k8s.io/v1beta1": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1beta2",
		}
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: s.ca},
				ConversionReviewVersions: []string{"v1", "v1beta1"},
			},
		}
		crds = append(crds, crd)
	}
	return crds, nil
}

func (p provider) url(path string) string {
	return fmt.Sprintf("https://127.0.0.1:%d%s", p.webhooks, path)
}

// admission creates the webhooks of all providers, which must answer by now: those that fail refuse.
func (s *Stack) admission(ctx context.Context, providers []provider) error {
	for _, p := range providers {
		documents, err := documents(filepath.Join(p.config, "webhook", "manifests.yaml"))
		if err != nil {
			return err
		}
		for _, d := range documents {
			o, err := s.webhooks(p, d)
			if err != nil {
				return fmt.Errorf("webhooks of %s: %w", p.name, err)
			}
			if err := s.Client.Create(ctx, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// webhooks reads one configuration; all providers use the same names, and services that are not here.
func (s *Stack) webhooks(p provider, document []byte) (client.Object, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return nil, err
	}
	here := func(c *admissionv1.WebhookClientConfig) {
		url := p.url(*c.Service.Path)
		c.URL, c.Service, c.CABundle = &url, nil, s.ca
	}
	switch gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind); gvk.Kind {
	case "MutatingWebhookConfiguration":
		o := &admissionv1.MutatingWebhookConfiguration{}
		err := yaml.Unmarshal(document, o)
		o.Name = p.name + "-" + o.Name
		for i := range o.Webhooks {
			here(&o.Webhooks[i].ClientConfig)
		}
		return o, err
	case "ValidatingWebhookConfiguration":
		o := &admissionv1.ValidatingWebhookConfiguration{}
		err := yaml.Unmarshal(document, o)
		o.Name = p.name + "-" + o.Name
		for i := range o.Webhooks {
			here(&o.Webhooks[i].ClientConfig)
		}
		return o, err
	default:
		return nil, fmt.Errorf("unexpected %s", gvk)
	}
}

// documents splits a file of YAML documents.
func documents(file string) ([][]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return split(data)
}

func split(data []byte) ([][]byte, error) {
	var all [][]byte
	for r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))); ; {
		d, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(d)) > 0 {
			all = append(all, d)
		}
	}
}
