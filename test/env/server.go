// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FieldOwner is the manager of the fields that this package, and tests through Server.Client, write.
const FieldOwner = "windlass-test"

// Server is one real kube-apiserver.
type Server struct {
	// Name of the server in this world, and of its log in World.Dir.
	Name string
	// Config of an administrator, without a limit of queries per second. Copy before you change it.
	Config *rest.Config
	// Client of that administrator. It reads from the API server, not from a cache, and refuses unknown fields.
	Client client.Client

	http    *http.Client
	command []string
	log     string

	mu      sync.Mutex
	process *process
}

// APIServer starts an API server without kinds of ours. Its name must be new in this world.
func (w *World) APIServer(ctx context.Context, name string, schemes ...func(*runtime.Scheme) error) (*Server, error) {
	dir := filepath.Join(w.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("starting API server %s: %w", name, err)
	}
	token := newToken()
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+",windlass-test,windlass-test,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	s := &Server{Name: name, log: filepath.Join(w.dir, name+".log")}
	err := onFreePorts(1, func(ports []int) error {
		s.command = w.apiServerCommand(name, dir, tokens, ports[0])
		s.Config = &rest.Config{
			Host: fmt.Sprintf("https://127.0.0.1:%d", ports[0]), BearerToken: token, QPS: -1,
			TLSClientConfig: rest.TLSClientConfig{CAData: w.id.certificate},
		}
		if err := s.connect(schemes); err != nil {
			return err
		}
		return s.Restart(ctx)
	})
	if err != nil {
		return nil, fmt.Errorf("starting API server %s: %w", name, err)
	}
	w.onClose(func() error { s.Stop(); return nil })
	return s, nil
}

func (w *World) apiServerCommand(name, dir, tokens string, port int) []string {
	return []string{
		filepath.Join(w.binaries, "kube-apiserver"),
		"--etcd-servers=" + w.etcd, "--etcd-prefix=/" + name,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port), "--cert-dir=" + dir,
		"--tls-cert-file=" + w.id.certFile, "--tls-private-key-file=" + w.id.keyFile,
		"--service-account-issuer=https://127.0.0.1",
		"--service-account-key-file=" + w.id.keyFile, "--service-account-signing-key-file=" + w.id.keyFile,
		"--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none",
		"--token-auth-file=" + tokens, "--authorization-mode=RBAC",
		// Pods are objects to be read here; nobody makes service accounts.
		"--disable-admission-plugins=ServiceAccount",
		// A world is one client's: nothing is to be queued for fairness.
		"--enable-priority-and-fairness=false",
	}
}

func (s *Server) connect(schemes []func(*runtime.Scheme) error) error {
	known := runtime.NewScheme()
	always := []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme}
	for _, add := range append(always, schemes...) {
		if err := add(known); err != nil {
			return err
		}
	}
	var err error
	if s.http, err = rest.HTTPClientFor(s.Config); err != nil {
		return err
	}
	s.Client, err = client.New(s.Config, client.Options{
		Scheme: known, HTTPClient: s.http, FieldOwner: FieldOwner, FieldValidation: metav1.FieldValidationStrict,
	})
	return err
}

// Stop kills the server, as a crash does. What it stored stays, and Restart brings it back.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		s.process.kill()
		s.process = nil
	}
}

// Restart starts a stopped server again, at the same address with the same objects, and waits until it is ready.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		return fmt.Errorf("API server %s is running", s.Name)
	}
	p, err := start(s.Name, s.log, s.command...)
	if err != nil {
		return err
	}
	err = p.waitFor(ctx, func(ctx context.Context) error { return answers(ctx, s.http, s.Config.Host+"/readyz") })
	if err != nil {
		p.kill()
		return err
	}
	s.process = p
	return nil
}

// Freeze stops the server's clock: connections stay open and nothing answers, as in a black hole.
func (s *Server) Freeze() error { return s.signal(syscall.SIGSTOP) }

// Thaw ends a Freeze.
func (s *Server) Thaw() error { return s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return fmt.Errorf("API server %s is not running", s.Name)
	}
	return s.process.signal(sig)
}

// Kubeconfig is the administrator's, as one file without references.
func (s *Server) Kubeconfig() []byte {
	c := clientcmdapi.NewConfig()
	c.Clusters[s.Name] = &clientcmdapi.Cluster{
		Server: s.Config.Host, CertificateAuthorityData: s.Config.CAData,
	}
	c.AuthInfos[s.Name] = &clientcmdapi.AuthInfo{Token: s.Config.BearerToken}
	c.Contexts[s.Name] = &clientcmdapi.Context{Cluster: s.Name, AuthInfo: s.Name}
	c.CurrentContext = s.Name
	out, err := clientcmd.Write(*c)
	if err != nil {
		return nil // not reached: what is written here has no part that cannot be
	}
	return out
}
