// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/windlass-dev/windlass/engine/k8sd"
)

// PROTOCOL.md 5.2, 17: the existing controllers give every call a minute, and have one worker.
func TestFault17_EachKindOfCallHasItsOwnDeadline(t *testing.T) {
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	for name, c := range map[string]struct {
		options func(o *k8sd.Options)
		prepare func(w *world)
		call    func(t *testing.T, c *k8sd.Client) error
		class   k8sd.Class
	}{
		"a question to a k8sd that does not answer": {
			options: func(o *k8sd.Options) { o.StatusTimeout = 3 * time.Second },
			prepare: func(w *world) { w.nodes["n0"].hang = never },
			call: func(t *testing.T, c *k8sd.Client) error {
				_, err := c.RefreshStatus(t.Context(), at("n0"), "1")
				return err
			},
			class: k8sd.Unknown,
		},
		"a refresh by a k8sd that does not answer": {
			options: func(o *k8sd.Options) { o.Timeout = 3 * time.Second },
			prepare: func(w *world) { w.nodes["n0"].hang = never },
			call:    refresh, class: k8sd.Unknown,
		},
		"the way to a node whose kubelet does not answer": {
			options: func(o *k8sd.Options) { o.DialTimeout = 3 * time.Second },
			prepare: func(w *world) { w.mute = "n0" },
			call:    refresh, class: k8sd.NotSent,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "n0")
			c.prepare(w)
			client := w.client(func(o *k8sd.Options) { // but for the one, none would end before the test does
				o.Timeout, o.StatusTimeout, o.DialTimeout = time.Hour, time.Hour, time.Hour
				c.options(o)
			})
			err := c.call(t, client)
			if err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
				t.Errorf("error: %v", err)
			}
			same(t, "class", c.class, k8sd.ClassOf(err))
		})
	}
}

func refresh(t *testing.T, c *k8sd.Client) error {
	_, err := c.Refresh(t.Context(), at("n0"), channel)
	return err
}

// PROTOCOL.md 5.2, 17.
func TestFault17_ADeadNodeDelaysNoOther(t *testing.T) {
	w := newWorld(t, "n0", "n1")
	_ = w.nodes["n0"].listener.Close()
	c := w.client(defaults)
	for range 5 {
		if _, err := c.RefreshStatus(t.Context(), at("n0"), "1"); !k8sd.IsNotSent(err) {
			t.Errorf("the dead node: %v", err)
		}
		if _, err := c.RefreshStatus(t.Context(), at("n1"), "1"); err != nil {
			t.Errorf("the other: %v", err)
		}
	}
}

// PROTOCOL.md 5.2, 20.
func TestFault20_ACertificateIsPinnedForEachNodeAlone(t *testing.T) {
	w := newWorld(t, "n0", "n1")
	c := w.client(defaults)
	for range 2 {
		for _, name := range []string{"n0", "n1"} { // of two certificates
			if _, err := c.Refresh(t.Context(), at(name), channel); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	n := w.nodes["n0"]
	n.set(func() { n.cert = selfSigned(t) })
	if _, err := c.Refresh(t.Context(), at("n0"), channel); !k8sd.IsNotSent(err) {
		t.Errorf("the node with another certificate: %v", err)
	}
	if _, err := c.Refresh(t.Context(), at("n1"), channel); err != nil {
		t.Errorf("the other node: %v", err)
	}
	// A pin lives as long as the client, which is documented: who restarts the engine accepts the new certificate.
	if _, err := w.client(defaults).Refresh(t.Context(), at("n0"), channel); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}

// PROTOCOL.md 5.2, 20: a token that a node repeats would end in events and annotations.
func TestFault20_ATokenThatK8sdRepeatsIsHidden(t *testing.T) {
	for name, c := range map[string]struct {
		code int
		body string
	}{
		"in an error":                 {http.StatusUnauthorized, `{"error":"invalid token ` + token + `"}`},
		"in an error with 200":        {http.StatusOK, `{"error":"` + token + `"}`},
		"in what is no JSON":          {http.StatusBadGateway, token},
		"in what is no JSON with 200": {http.StatusOK, token},
		"in place of a status":        {0, ""},
		"in metadata of no shape":     {http.StatusOK, `{"metadata":"` + token + `"}`},
		"in the end of a change":      {http.StatusOK, `{"metadata":{"completed":true,"status":"` + token + `","errorMessage":"` + token + `"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "n0")
			w.nodes["n0"].says(c.code, c.body)
			if c.code == 0 {
				w.nodes["n0"].answer = []byte(token + "\r\n\r\n")
			}
			client := w.client(defaults)
			_, refreshErr := client.Refresh(t.Context(), at("n0"), channel)
			status, statusErr := client.RefreshStatus(t.Context(), at("n0"), "1")
			var detail *k8sd.Error
			errors.As(statusErr, &detail)
			if told := fmt.Sprintf("%v %v %+v %+v", refreshErr, statusErr, status, detail); strings.Contains(told, token) {
				t.Errorf("tells the token: %s", told)
			}
		})
	}
}

func TestATokenWithSpaceAroundItIsSentWithout(t *testing.T) {
	w := newWorld(t, "n0")
	w.rewrite("eu-token", map[string][]byte{"node-token-m0": []byte(" " + token + "\n")})
	if _, err := w.client(defaults).Refresh(t.Context(), at("n0"), channel); err != nil {
		t.Fatal(err)
	}
	if request := w.nodes["n0"].heard()[0]; !strings.Contains(request, "\r\nnode-token: "+token+"\r\n") {
		t.Errorf("request: %q", request)
	}
}

// PROTOCOL.md 5.2, 21: the existing controllers open a tunnel for each question.
func TestFault21_QuestionsOfManyAtOnceShareOneTunnelOfEachNode(t *testing.T) {
	w := newWorld(t, "n0", "n1")
	c := w.client(defaults)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if _, err := c.RefreshStatus(t.Context(), at(fmt.Sprintf("n%d", i%2)), "1"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	tunnels, open := w.counted()
	same(t, "tunnels opened and open", [2]int{2, 2}, [2]int{tunnels, open})
	w.clock.Step(k8sd.DefaultIdle)
	<-w.closed
	<-w.closed
	_, open = w.counted()
	same(t, "tunnels open when idle", 0, open)
}

func TestAnAnswerThatIsNoneOfOursIsBoundedAndUnknown(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	for name, c := range map[string]struct {
		answer string
		class  k8sd.Class
	}{
		"another protocol":  {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", k8sd.Unknown},
		"a long first line": {"HTTP/1.1 " + long[:10_000] + "\r\n\r\n", k8sd.Unknown},
		"no HTTP":           {"SSH-2.0-OpenSSH_9.6\r\n\r\n", k8sd.Unknown},
		"a long change id":  {ok(`{"metadata":{"changeId":"` + long + `"}}`), k8sd.Unknown},
		"a long error":      {ok(`{"error":"` + long + `"}`), k8sd.Rejected},
		"an endless answer": {"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat(long, 20), k8sd.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "n0")
			w.nodes["n0"].answer = []byte(c.answer)
			client := w.client(func(o *k8sd.Options) { o.Timeout = 5 * time.Second })
			err := refresh(t, client)
			same(t, "class", c.class, k8sd.ClassOf(err))
			if len(err.Error()) > 2048 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func ok(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}
