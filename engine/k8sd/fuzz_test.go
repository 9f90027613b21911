// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/windlass-dev/windlass/engine/k8sd"
)

// maxTold bounds what an error or an answer may say: beyond it an event or an annotation would not be accepted.
const maxTold = 4096

// FuzzResponse looks for an answer of k8sd, as status code and body or as raw bytes, that makes the client panic, that
// it takes for a request that was not sent, or that it passes on without a bound.
func FuzzResponse(f *testing.F) {
	for _, code := range []int{0, 100, 101, 200, 204, 301, 307, 400, 401, 500, 502, 503, 999} {
		for _, body := range []string{
			"", "{}", "null", "[]", `{"error":"no"}`, `{"metadata":{"changeId":"42"}}`, `{"metadata":{"changeId":42}}`,
			`{"metadata":{"status":"Done","completed":true}}`, `{"metadata":[]}`, `{"error":{}}`, "Bad Gateway", "\xff\xfe",
			`{"error":"` + token + `"}`, strings.Repeat("[", 20_000), `{"error":"` + strings.Repeat("é", 3000) + `"}`,
		} {
			f.Add(code, []byte(body), true)
		}
	}
	for _, raw := range []string{
		"", "\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{", "HTTP/2.0 200\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 100 Continue\r\n\r\n",
	} {
		f.Add(0, []byte(raw), false)
	}
	w := newWorld(f, "n0")
	client := w.client(func(o *k8sd.Options) { o.Timeout, o.StatusTimeout = 2*time.Second, 2*time.Second })
	f.Fuzz(func(t *testing.T, code int, body []byte, framed bool) {
		answer := body
		if framed {
			answer = fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Length: %d\r\n\r\n%s", code, http.StatusText(code), len(body), body)
		}
		n := w.nodes["n0"]
		n.set(func() { n.answer, n.last, n.requests = answer, true, nil })
		id, err := client.Refresh(t.Context(), at("n0"), channel)
		heard := len(n.heard())
		checkAnswer(t, err, heard, id)
		if err == nil && framed && code != http.StatusOK {
			t.Errorf("success with code %d", code)
		}
		status, err := client.RefreshStatus(t.Context(), at("n0"), "1")
		checkAnswer(t, err, len(n.heard())-heard, status.Status+status.ErrorMessage)
	})
}

func checkAnswer(t *testing.T, err error, heard int, told string) {
	t.Helper()
	if err != nil {
		told += err.Error()
	}
	switch {
	case heard > 1:
		t.Errorf("the request was sent %d times", heard)
	case heard > 0 && k8sd.IsNotSent(err):
		t.Errorf("a request that the node has seen counts as not sent: %v", err)
	case len(told) > maxTold:
		t.Errorf("tells %d bytes", len(told))
	case strings.Contains(told, token):
		t.Errorf("tells the token: %s", told)
	case !utf8.ValidString(told):
		t.Errorf("tells what is no text: %q", told)
	}
}
