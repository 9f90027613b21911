// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package drain empties a node of a workload cluster before its machine is refreshed. It works in short looks: each
// cordons the node if need be, asks once for the eviction of what must go, and says what is left. Nothing is kept
// between looks; what was cordoned here is known by an annotation on the Node.
package drain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	kubectldrain "k8s.io/kubectl/pkg/drain"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/machine"
)

const (
	// notProxy leaves out the pods that lead to k8sd: without them the node cannot be refreshed.
	notProxy = "app!=k8sd-proxy"
	// chunkSize is how many pods one answer to a list may hold.
	chunkSize = 500
	// evictions is how many are asked for at once; one that hangs holds up no other.
	evictions = 8
	// useForce is kubectl's advice, which means nothing here.
	useForce = " (use --force to override)"
)

// Options of a Client.
type Options struct {
	// Reader reads Secrets of the management cluster past every cache. Required, unless Connect is given.
	Reader client.Reader
	// MayWrite is asked before each write. Default: always.
	MayWrite func() error
	// Timeout bounds one look, everything included. Default 10s.
	Timeout time.Duration
	// Connect makes the client of a workload cluster. Default: by its kubeconfig Secret.
	Connect func(ctx context.Context, cluster types.NamespacedName) (kubernetes.Interface, error)
}

// DefaultTimeout of Options.
const DefaultTimeout = 10 * time.Second

// Client drains nodes of all clusters of one management cluster. It is safe for concurrent use.
type Client struct{ opts Options }

// New returns a client that has opened nothing yet.
func New(opts Options) *Client {
	if opts.MayWrite == nil {
		opts.MayWrite = func() error { return nil }
	}
	if opts.Timeout <= 0 {
		opts.Timeout = DefaultTimeout
	}
	if opts.Connect == nil {
		opts.Connect = func(ctx context.Context, cluster types.NamespacedName) (kubernetes.Interface, error) {
			cfg, err := k8sd.WorkloadConfig(ctx, opts.Reader, cluster)
			if err != nil {
				return nil, err
			}
			cfg.Timeout = opts.Timeout
			cfg.QPS = -1 // a look is bounded by its time
			return kubernetes.NewForConfig(cfg)
		}
	}
	return &Client{opts}
}

// Drain cordons the node in the name of a machine (its UID), unless somebody else has, asks for the eviction of the
// pods that must go, and returns those that are left, by name. Pods of DaemonSets, static pods and the k8sd-proxy
// stay and are not returned. While there are pods that are never evicted, those without a controller, none is.
func (c *Client) Drain(ctx context.Context, node k8sd.Node, by string) ([]machine.Left, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	workload, err := c.opts.Connect(ctx, node.Cluster)
	if err != nil {
		return nil, fmt.Errorf("draining %s: %w", node, err)
	}
	if err := c.cordon(ctx, workload, node, by); err != nil {
		return nil, err
	}
	helper := &kubectldrain.Helper{
		Ctx: ctx, Client: workload, GracePeriodSeconds: -1, // each pod's own
		IgnoreAllDaemonSets: true, DeleteEmptyDirData: true, PodSelector: notProxy, ChunkSize: chunkSize,
	}
	pods, problems := helper.GetPodsForDeletion(node.NodeName)
	if pods == nil {
		return nil, fmt.Errorf("draining %s: %w", node, errors.Join(problems...))
	}
	if len(problems) > 0 {
		return refused(problems), nil
	}
	return c.evict(ctx, helper, pods.Pods())
}

// refused says which pods are never evicted.
func refused(problems []error) []machine.Left {
	left := make([]machine.Left, 0, len(problems))
	for _, p := range problems {
		left = append(left, machine.Left{Why: strings.ReplaceAll(p.Error(), useForce, "")})
	}
	return sorted(left)
}

func (c *Client) evict(ctx context.Context, helper *kubectldrain.Helper, pods []corev1.Pod) ([]machine.Left, error) {
	left := make([]machine.Left, len(pods))
	var all errgroup.Group
	all.SetLimit(evictions)
	for i, pod := range pods {
		all.Go(func() error {
			left[i].Pod = pod.Namespace + "/" + pod.Name
			if pod.DeletionTimestamp != nil {
				return nil
			}
			if err := c.opts.MayWrite(); err != nil {
				return err
			}
			err := helper.EvictPod(pod, policyv1.SchemeGroupVersion)
			if apierrors.IsNotFound(err) {
				left[i] = machine.Left{}
				return nil
			}
			left[i].Why = why(ctx, err)
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return sorted(slices.DeleteFunc(left, func(l machine.Left) bool { return l == machine.Left{} })), nil
}

// why says what keeps a pod; empty: nothing, it is going.
func why(ctx context.Context, err error) string {
	var status *apierrors.StatusError
	switch {
	case err == nil, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return ""
	case errors.As(err, &status) && apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause):
		for _, cause := range status.ErrStatus.Details.Causes {
			if cause.Type == policyv1.DisruptionBudgetCause {
				return "PodDisruptionBudget: " + cause.Message
			}
		}
	case ctx.Err() != nil:
		return "its eviction was not answered in time"
	}
	return err.Error()
}

func sorted(left []machine.Left) []machine.Left {
	slices.SortFunc(left, func(a, b machine.Left) int {
		return strings.Compare(a.Pod+a.Why, b.Pod+b.Why)
	})
	return left
}
