// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package capistack

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

//go:embed cluster.yaml
var clusterTemplate string

// ClusterSpec is a workload cluster to be made. Its control plane is called <name>-cp, its pool <name>-md.
type ClusterSpec struct {
	// Namespace is made with the cluster, so that it must be new.
	Namespace, Name string
	// Version of Kubernetes, as Cluster API wants it, of all machines.
	Version string
	// ControlPlane and Workers are the numbers of machines; a control plane has 1 or 3.
	ControlPlane, Workers int32
}

// Cluster makes a workload cluster and returns when Cluster API calls all its machines available and each node has its
// k8sd.
func (s *Stack) Cluster(ctx context.Context, spec ClusterSpec) error {
	if err := s.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: spec.Namespace}}); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := template.Must(template.New("cluster").Parse(clusterTemplate)).Execute(&text, spec); err != nil {
		return err
	}
	objects, err := split(text.Bytes())
	if err != nil {
		return err
	}
	for _, o := range objects {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(o, u); err != nil {
			return err
		}
		if err := s.Client.Create(ctx, u); err != nil {
			return fmt.Errorf("creating %s %s: %w", u.GetKind(), u.GetName(), err)
		}
	}
	return s.await(ctx, spec)
}

func (s *Stack) await(ctx context.Context, spec ClusterSpec) error {
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for {
		missing, err := s.missing(ctx, spec)
		if err == nil && missing == "" {
			return nil
		}
		if ended := s.Ended(); ended != nil {
			return ended
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("cluster %s/%s is not ready (%w): %s %w", spec.Namespace, spec.Name, ctx.Err(), missing, err)
		}
	}
}

// missing says what a cluster lacks, empty for nothing.
func (s *Stack) missing(ctx context.Context, spec ClusterSpec) (string, error) {
	var machines clusterv1.MachineList
	err := s.Client.List(ctx, &machines, client.InNamespace(spec.Namespace),
		client.MatchingLabels{clusterv1.ClusterNameLabel: spec.Name})
	if err != nil {
		return "", err
	}
	var lacks []string
	if got, want := len(machines.Items), int(spec.ControlPlane+spec.Workers); got != want {
		lacks = append(lacks, fmt.Sprintf("%d of %d machines", got, want))
	}
	for i := range machines.Items {
		m := &machines.Items[i]
		available := slices.ContainsFunc(m.Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == clusterv1.AvailableCondition && c.Status == metav1.ConditionTrue
		})
		switch {
		case !available:
			lacks = append(lacks, fmt.Sprintf("machine %s is %s", m.Name, m.Status.Phase))
		case !s.nodes.knows(m):
			lacks = append(lacks, fmt.Sprintf("machine %s has no k8sd", m.Name))
		}
	}
	return strings.Join(lacks, ", "), nil
}
