// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package env_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-dev/windlass/test/build"
	"github.com/windlass-dev/windlass/test/env"
	"github.com/windlass-dev/windlass/test/k8sd"
)

const (
	classic = "channel=1.33-classic/stable"
	refresh = `{"channel":"1.33-classic/stable","revision":"","localPath":""}`
)

func TestRefreshThroughTheAPIServerReachesMachineStatus(t *testing.T) {
	ns := namespace("forward")
	ctx := t.Context()
	c := cluster(t, shared.current, build.Cluster(ns, "eu-1"))
	shared.Sim().Release(classic, "v1.33.9")

	reply, err := call(ctx, shared.current, c, "eu-1-cp-0", "/1.0/snap/refresh", refresh)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"sync","status":"Success","status_code":200,"operation":"","error_code":0,"error":"",` +
		`"metadata":{"changeId":"1"}}`
	if diff := cmp.Diff(want, reply); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
	await(t, shared.current.Client, machine(ns, "eu-1-cp-0"), func(m *clusterv1.Machine) bool {
		return m.Status.NodeInfo.KubeletVersion == "v1.33.9"
	})
	if got := shared.Sim().Refreshes(c.Node("eu-1-cp-0")); got != 1 {
		t.Errorf("%d refreshes counted, want 1", got)
	}
}

func TestNodeThatIsDownRefusesAndComesBack(t *testing.T) {
	ns := namespace("down")
	ctx := t.Context()
	c := cluster(t, shared.current, build.Cluster(ns, "eu-1").ControlPlane(2))
	ask := func(machine string) error {
		_, err := call(ctx, shared.current, c, machine, "/1.0/snap/refresh-status", `{"changeId":"1"}`)
		return err
	}
	if err := c.NodeDown("eu-1-cp-0"); err != nil {
		t.Fatal(err)
	}
	if err := ask("eu-1-cp-0"); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("a node that is down answers %v, want connection refused", err)
	}
	if err := ask("eu-1-cp-1"); err != nil {
		t.Errorf("the node beside it: %v", err)
	}
	if err := c.NodeUp(ctx, "eu-1-cp-0"); err != nil {
		t.Fatal(err)
	}
	if err := ask("eu-1-cp-0"); err != nil {
		t.Errorf("the node that came back: %v", err)
	}
}

func TestTransportFaultsAsTheClientSeesThem(t *testing.T) {
	ns := namespace("faults")
	c := cluster(t, shared.current, build.Cluster(ns, "eu-1"))
	node := c.Node("eu-1-cp-0")
	for name, test := range map[string]struct {
		fault k8sd.Fault
		limit time.Duration
		want  string
	}{
		"a reset shows as the end of the stream":  {k8sd.Reset(), time.Minute, "EOF"},
		"a mute node shows as the caller's limit": {k8sd.Mute(), 2 * time.Second, context.DeadlineExceeded.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			if err := shared.Sim().Fail(node, test.fault, 1); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), test.limit)
			defer cancel()
			_, err := call(ctx, shared.current, c, "eu-1-cp-0", "/1.0/snap/refresh-status", `{"changeId":"1"}`)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the call ended with %v, want %s", err, test.want)
			}
		})
	}
}

// call asks the k8sd of a machine's node as the provider does: token from the Secret, proxy pod by node name, tunnel
// through the workload cluster's API server, TLS that verifies nothing.
func call(ctx context.Context, m *env.Management, c *env.Cluster, machine, path, body string) (string, error) {
	var tokens corev1.Secret
	if err := m.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Name + "-token"}, &tokens); err != nil {
		return "", err
	}
	tunnel, err := openTunnel(ctx, c, machine)
	if err != nil {
		return "", err
	}
	defer func() { _ = tunnel.Close() }()
	transport := &http.Transport{
		DialContext:     func(context.Context, string, string) (net.Conn, error) { return stream(tunnel) },
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://127.0.0.1:2380"+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("node-token", string(tokens.Data["node-token-"+machine]))
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	return strings.TrimSpace(string(answer)), err
}

func openTunnel(ctx context.Context, c *env.Cluster, machine string) (httpstream.Connection, error) {
	var pods corev1.PodList
	err := c.Server.Client.List(ctx, &pods, client.InNamespace("kube-system"), client.MatchingLabels{"app": "k8sd-proxy"})
	if err != nil {
		return nil, err
	}
	clients, err := kubernetes.NewForConfig(c.Server.Config)
	if err != nil {
		return nil, err
	}
	for _, p := range pods.Items {
		if p.Spec.NodeName != c.Node(machine) {
			continue
		}
		url := clients.CoreV1().RESTClient().Post().Resource("pods").Namespace(p.Namespace).Name(p.Name).
			SubResource("portforward").URL()
		transport, upgrader, err := spdy.RoundTripperFor(c.Server.Config)
		if err != nil {
			return nil, err
		}
		dialer := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
		conn, _, err := dialer.Dial("portforward.k8s.io")
		return conn, err
	}
	return nil, fmt.Errorf("no k8sd-proxy pod on the node of %s", machine)
}

// stream opens one connection in a tunnel, to the port of k8sd-proxy.
func stream(tunnel httpstream.Connection) (net.Conn, error) {
	headers := http.Header{}
	headers.Set("port", "2380")
	headers.Set("requestID", "0")
	headers.Set("streamType", "error")
	failed, err := tunnel.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	headers.Set("streamType", "data")
	data, err := tunnel.CreateStream(headers)
	if err != nil {
		return nil, errors.Join(err, failed.Reset())
	}
	return streamConn{data}, failed.Close()
}

// streamConn is a stream as a connection without addresses and deadlines.
type streamConn struct{ httpstream.Stream }

func (streamConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (streamConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (streamConn) SetDeadline(time.Time) error      { return nil }
func (streamConn) SetReadDeadline(time.Time) error  { return nil }
func (streamConn) SetWriteDeadline(time.Time) error { return nil }
func (s streamConn) Close() error                   { return s.Reset() }
