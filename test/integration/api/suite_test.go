// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package api_test claims that a real API server accepts what the hub understands, and refuses the rest with words that
// help: the CRDs and the admission policies that go with them are the only guard, there is no webhook.
package api_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
	"github.com/windlass-dev/windlass/test/env"
)

// Clients of the one API server that this suite needs. The lenient one does not want to hear of fields that the server
// does not know.
var (
	world   *env.World
	server  *env.Server
	hub     client.Client
	strict  client.Client
	lenient client.Client
	config  *rest.Config
)

func TestAPI(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(time.Minute) // until the API server's authorizer has seen a role
	RunSpecs(t, "API")
}

var _ = BeforeSuite(func() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute) // the binaries may have to be built
	defer cancel()
	var err error
	world, err = env.Start(ctx, env.Options{Log: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return world.Close() })
	server, err = world.Hub(ctx, fleetv1.AddToScheme)
	Expect(err).NotTo(HaveOccurred())
	hub, config = server.Client, server.Config
	strict = client.WithFieldValidation(hub, metav1.FieldValidationStrict)
	lenient = client.WithFieldValidation(hub, metav1.FieldValidationIgnore)
})
