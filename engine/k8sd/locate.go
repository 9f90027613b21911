// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	capisecret "sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Names of what leads to a node (PROTOCOL.md 4.1, 4.2).
const (
	kubeconfigSuffix = "-" + string(capisecret.Kubeconfig)
	kubeconfigKey    = capisecret.KubeconfigDataName
	tokenSuffix      = "-token"
	tokenKeyPrefix   = "node-token-"
	proxyNamespace   = metav1.NamespaceSystem
	proxySelector    = "app=k8sd-proxy"
)

// workload is one workload API server, as one version of the kubeconfig Secret describes it.
type workload struct {
	uid             types.UID
	resourceVersion string

	base string
	core corev1client.CoreV1Interface
	// upgrader opens tunnels: HTTP/1.1, since an upgrade cannot be had over HTTP/2.
	upgrader http.RoundTripper
}

// workload returns the workload API server of a cluster; it reads the Secret each time and makes clients only when
// the Secret has changed.
func (c *Client) workload(ctx context.Context, cluster types.NamespacedName) (*workload, error) {
	secret, err := c.secret(ctx, cluster, kubeconfigSuffix)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.workloads[cluster]
	if w != nil && w.uid == secret.UID && w.resourceVersion == secret.ResourceVersion {
		return w, nil
	}
	w, err = newWorkload(secret, c.opts)
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", client.ObjectKeyFromObject(secret), err)
	}
	c.workloads[cluster] = w
	return w, nil
}

// token returns the token that k8sd of the node expects. It must not be printed.
func (c *Client) token(ctx context.Context, node Node) (string, error) {
	secret, err := c.secret(ctx, node.Cluster, tokenSuffix)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(secret.Data[tokenKeyPrefix+node.Machine])) // as k8sd does with its own
	if token == "" {
		return "", fmt.Errorf("node-token for machine %q not found: secret %s has no key %s%s",
			node.Machine, client.ObjectKeyFromObject(secret), tokenKeyPrefix, node.Machine)
	}
	return token, nil
}

func (c *Client) secret(ctx context.Context, cluster types.NamespacedName, suffix string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name + suffix}
	if err := c.opts.Reader.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("reading secret %s: %w", key, err)
	}
	return secret, nil
}

func newWorkload(secret *corev1.Secret, opts Options) (*workload, error) {
	cfg, err := restConfig(secret.Data[kubeconfigKey])
	if err != nil {
		return nil, err
	}
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, err
	}
	upgrade := rest.CopyConfig(cfg)
	upgrade.NextProtos = []string{"http/1.1"}
	upgrader, err := rest.TransportFor(upgrade)
	if err != nil {
		return nil, err
	}
	cfg.Timeout = opts.DialTimeout
	cfg.QPS = -1 // calls are bounded by those that use them
	core, err := corev1client.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return &workload{
		uid: secret.UID, resourceVersion: secret.ResourceVersion,
		base: base.String(), core: core, upgrader: upgrader,
	}, nil
}

// restConfig reads a kubeconfig that must be complete in itself: who can write the Secret must not thereby run
// programs, or read files, where the engine runs.
func restConfig(kubeconfig []byte) (*rest.Config, error) {
	if len(kubeconfig) == 0 {
		return nil, fmt.Errorf("no kubeconfig under key %s", kubeconfigKey)
	}
	loaded, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, errors.New("the kubeconfig cannot be read") // its text may hold credentials
	}
	for name, user := range loaded.AuthInfos {
		if user.Exec != nil || user.AuthProvider != nil {
			return nil, fmt.Errorf("kubeconfig user %q: exec and auth-provider plugins are refused", name)
		}
		if user.TokenFile != "" || user.ClientCertificate != "" || user.ClientKey != "" {
			return nil, fmt.Errorf("kubeconfig user %q: references to files are refused", name)
		}
	}
	for name, cluster := range loaded.Clusters {
		if cluster.CertificateAuthority != "" {
			return nil, fmt.Errorf("kubeconfig cluster %q: references to files are refused", name)
		}
	}
	return clientConfig(loaded)
}

func clientConfig(loaded *clientcmdapi.Config) (*rest.Config, error) {
	cfg, err := clientcmd.NewDefaultClientConfig(*loaded, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig is not usable: %w", err)
	}
	cfg.UserAgent = "windlass-engine"
	return cfg, nil
}

// place is where a node's k8sd is found.
type place struct {
	pod string
	// host is the node's address and the proxy's port, as k8sd expects them in the Host header.
	host string
}

// locate finds the proxy pod of a node and the node's address.
func (w *workload) locate(ctx context.Context, nodeName string, port int) (place, error) {
	node, err := w.core.Nodes().Get(ctx, nodeName, metav1.GetOptions{})
	if err != nil {
		return place{}, fmt.Errorf("reading node %s: %w", nodeName, err)
	}
	address := internalIP(node)
	if address == "" {
		return place{}, fmt.Errorf("node %s has no InternalIP", nodeName)
	}
	pods, err := w.core.Pods(proxyNamespace).List(ctx, metav1.ListOptions{
		LabelSelector: proxySelector,
		FieldSelector: fields.OneTermEqualSelector("spec.nodeName", nodeName).String(),
	})
	if err != nil {
		return place{}, fmt.Errorf("listing k8sd-proxy pods: %w", err)
	}
	pod, found := best(pods.Items)
	if !found {
		return place{}, fmt.Errorf("missing k8sd-proxy pod for node %s", nodeName)
	}
	return place{pod: pod, host: net.JoinHostPort(address, fmt.Sprint(port))}, nil
}

func internalIP(node *corev1.Node) string {
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return a.Address
		}
	}
	return ""
}

// best picks the pod that most likely answers: ready before running before any other, by name among equals.
func best(pods []corev1.Pod) (string, bool) {
	name, rank := "", -1
	for i := range pods {
		p := &pods[i]
		r := rankOf(p)
		if r > rank || r == rank && p.Name < name {
			name, rank = p.Name, r
		}
	}
	return name, rank >= 0
}

func rankOf(p *corev1.Pod) int {
	if p.DeletionTimestamp != nil {
		return 0
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return 3
		}
	}
	if p.Status.Phase == corev1.PodRunning {
		return 2
	}
	return 1
}
