// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	fleetv1 "github.com/windlass-dev/windlass/fleet/api/v1alpha1"
)

// explain tells what to do about an error of the hub, where that is known.
func explain(err error) error {
	const another = "choose another cluster with --context or --kubeconfig"
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case err == nil:
		return nil
	case meta.IsNoMatchError(err):
		return fmt.Errorf("%w: this cluster does not serve %s, so it is no Windlass hub; %s", err, fleetv1.GroupVersion,
			another)
	case errors.As(err, &certificate):
		return fmt.Errorf("%w: the hub's certificate is not trusted; name its authority with --certificate-authority, or %s", err, another)
	case utilnet.IsConnectionRefused(err), utilnet.IsTimeout(err), errors.As(err, &name):
		return fmt.Errorf("%w: the hub does not answer; %s", err, another)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%w: the hub does not accept the credentials of this context; renew them, or %s", err, another)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w; needed: get, list and watch on the kinds of %s, which the ClusterRole windlass-viewer holds",
			err, fleetv1.GroupVersion.Group)
	}
	return err
}
