// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// SecretKeys are the keys of a Secret under which a kubeconfig is looked for, in this order.
var SecretKeys = [...]string{"kubeconfig", "value"}

// ParseKubeconfig reads the kubeconfig of a Secret. Exec and auth-provider plugins and files are refused: whoever
// may write the Secret must not get code executed, or files read, in the hub.
func ParseKubeconfig(data map[string][]byte) (*rest.Config, string, error) {
	for _, key := range SecretKeys {
		if text, found := data[key]; found {
			return parse(key, text)
		}
	}
	return nil, "", fmt.Errorf("the Secret has no key %q or %q with a kubeconfig", SecretKeys[0], SecretKeys[1])
}

func parse(key string, text []byte) (*rest.Config, string, error) {
	raw, err := clientcmd.Load(text)
	if err != nil {
		return nil, "", fmt.Errorf("key %q is not a kubeconfig: %w", key, err)
	}
	if err := refuse(raw); err != nil { // before anything looks at what it names
		return nil, "", fmt.Errorf("key %q: %w", key, err)
	}
	cfg, err := clientcmd.NewDefaultClientConfig(*raw, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("key %q is not a kubeconfig: %w", key, err)
	}
	sum := sha256.Sum256(text)
	return cfg, hex.EncodeToString(sum[:8]), nil
}

// What a kubeconfig may not do.
var (
	errPlugin = errors.New("exec and auth-provider plugins are refused; accepted: a token or a client certificate " +
		"inside the kubeconfig")
	errFile = errors.New("files are refused; accepted: certificate-authority-data, client-certificate-data, " +
		"client-key-data, token")
)

// refuse looks at every cluster and user, those of no context included.
func refuse(raw *clientcmdapi.Config) error {
	for _, user := range raw.AuthInfos {
		switch {
		case user.Exec != nil, user.AuthProvider != nil:
			return errPlugin
		case user.TokenFile != "", user.ClientCertificate != "", user.ClientKey != "":
			return errFile
		}
	}
	for _, cluster := range raw.Clusters {
		if cluster.CertificateAuthority != "" {
			return errFile
		}
	}
	return nil
}

var errNoCertificate = errors.New("no client certificate")

// expiry is when the client certificate of a connection ends.
func expiry(cfg *rest.Config) (time.Time, error) {
	block, _ := pem.Decode(cfg.CertData)
	if block == nil {
		return time.Time{}, errNoCertificate
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, fmt.Errorf("client certificate: %w", err)
	}
	return cert.NotAfter, nil
}
