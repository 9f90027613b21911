// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/feature"
	infrav1beta1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta1"
	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// ports is how many workload clusters find a port.
const ports = 100

// options are the flags; those that the other providers have too bear the same names.
type options struct {
	webhookPort    int
	webhookCertDir string
	healthAddr     string
	host           string
	port           int32
}

func parse() options {
	var o options
	fs := pflag.CommandLine
	fs.IntVar(&o.webhookPort, "webhook-port", 9443, "port of the webhooks")
	fs.StringVar(&o.webhookCertDir, "webhook-cert-dir", "", "folder of tls.crt and tls.key")
	fs.StringVar(&o.healthAddr, "health-addr", "127.0.0.1:9440", "address of /readyz")
	fs.StringVar(&o.host, "workload-host", "127.0.0.1", "address of the workload clusters' API servers")
	fs.Int32Var(&o.port, "workload-port", 20000, "first of the ports of the workload clusters; it is for debugging")
	feature.MutableGates.AddFlag(fs)
	klog.InitFlags(nil)
	fs.AddGoFlagSet(flag.CommandLine) // --kubeconfig and -v
	pflag.Parse()
	return o
}

func newManager(o options) (ctrl.Manager, error) {
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	cfg.QPS, cfg.Burst = 100, 200
	return ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                 managementScheme(),
		HealthProbeBindAddress: o.healthAddr,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		Client: client.Options{Cache: &client.CacheOptions{
			DisableFor:   []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}},
			Unstructured: true,
		}},
		WebhookServer: webhook.NewServer(webhook.Options{Port: o.webhookPort, CertDir: o.webhookCertDir}),
	})
}

func workloadClients(ctx context.Context, mgr ctrl.Manager) (clustercache.ClusterCache, error) {
	secrets, err := client.New(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Cache: &client.CacheOptions{Reader: mgr.GetCache()},
	})
	if err != nil {
		return nil, fmt.Errorf("making a client of secrets: %w", err)
	}
	return clustercache.SetupWithManager(ctx, mgr, clustercache.Options{
		SecretClient: secrets,
		Client:       clustercache.ClientOptions{QPS: 100, Burst: 200, UserAgent: "inmemory"},
	}, controller.Options{MaxConcurrentReconciles: 10})
}

func managementScheme() *runtime.Scheme {
	return schemeOf(clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, clusterv1.AddToScheme,
		infrav1beta1.AddToScheme, infrav1.AddToScheme)
}

// workloadScheme is what a workload cluster holds, beside the virtual machines behind it.
func workloadScheme() *runtime.Scheme {
	return schemeOf(cloudv1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme,
		storagev1.AddToScheme, apiextensionsv1.AddToScheme, policyv1.AddToScheme)
}

func schemeOf(add ...func(*runtime.Scheme) error) *runtime.Scheme {
	s := runtime.NewScheme()
	for _, f := range add {
		utilruntime.Must(f(s))
	}
	return s
}
