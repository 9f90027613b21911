// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"

	"github.com/windlass-dev/windlass/engine/protocol"
)

const (
	refreshPath = "/1.0/snap/refresh"
	statusPath  = "/1.0/snap/refresh-status"
	// tokenHeader is in lower case on the wire.
	tokenHeader = "node-token"
	// maxAnswer bounds what is read of an answer; real ones have less than 1 KiB.
	maxAnswer = 1 << 20
	maxHeader = 16 << 10
	// maxText bounds what is kept of k8sd's own words, maxChangeID a change id; real ones are numbers.
	maxText     = 1 << 10
	maxChangeID = 256
	// hidden stands where k8sd repeats a token of this length at least; what is shorter could be any word.
	hidden, minHidden = "[node token]", 8
)

// refreshRequest has all three fields always; exactly one is not empty.
type refreshRequest struct {
	Channel   string `json:"channel"`
	Revision  string `json:"revision"`
	LocalPath string `json:"localPath"`
}

func refreshRequestFor(t protocol.Target) refreshRequest {
	switch t.Option {
	case protocol.Channel:
		return refreshRequest{Channel: t.Value}
	case protocol.Revision:
		return refreshRequest{Revision: t.Value}
	case protocol.LocalPath:
		return refreshRequest{LocalPath: t.Value}
	}
	return refreshRequest{}
}

type refreshResponse struct {
	ChangeID string `json:"changeId"`
}

type statusRequest struct {
	ChangeID string `json:"changeId"`
}

// Status is how a change is getting on. Completed says that it has ended, Status how: StatusDone is the good end.
type Status struct {
	Status       string `json:"status"`
	Completed    bool   `json:"completed"`
	ErrorMessage string `json:"errorMessage"`
}

// Ends of a change that have a meaning of their own; all others are failures.
const (
	StatusDone  = "Done"
	StatusError = "Error"
)

// envelope is around every answer.
type envelope struct {
	Error    string          `json:"error"`
	Metadata json.RawMessage `json:"metadata"`
}

type endpoint struct{ host, token string }

func (e endpoint) secret() bool { return len(e.token) >= minHidden }

// hide returns the error, or one that says the same without the token.
func (e endpoint) hide(err error) error {
	if !e.secret() || !strings.Contains(err.Error(), e.token) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), e.token, hidden))
}

type request struct {
	path string
	body any
	// fresh asks for a connection of its own: on one that was kept alive, a k8sd that has restarted meanwhile would
	// turn a definite failure into an unknown one.
	fresh bool
}

// send makes the call and reads the answer in k8sd's client's order: body, HTTP status, error, metadata.
func (r request) send(ctx context.Context, way http.RoundTripper, to endpoint, into any) error {
	body, err := json.Marshal(r.body)
	if err != nil {
		return notSent(err)
	}
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+to.host+r.path, bytes.NewReader(body))
	if err != nil {
		return notSent(err)
	}
	req.Header[tokenHeader] = []string{to.token}
	resp, err := way.RoundTrip(req) // no client: it would follow redirects, that is, send again
	switch {
	case err != nil && !connected.Load():
		return notSent(err)
	case err != nil:
		return unknown(0, to.hide(err))
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusSwitchingProtocols { // its body would not end with ctx
		return unknown(resp.StatusCode, errors.New("k8sd switched protocols"))
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return unknown(resp.StatusCode, fmt.Errorf("reading the answer: %w", err))
	}
	if to.secret() {
		text = bytes.ReplaceAll(text, []byte(to.token), []byte(hidden))
	}
	return decode(resp.StatusCode, text, into)
}

func decode(code int, text []byte, into any) error {
	var e envelope
	err := json.Unmarshal(text, &e)
	e.Error = clipped(e.Error)
	if err != nil {
		if code != http.StatusOK {
			return rejected(code, "", "failed to parse HTTP response with status code %d: %w", code, err)
		}
		return unknown(code, fmt.Errorf("failed to parse HTTP response: %w", err))
	}
	switch {
	case code != http.StatusOK:
		return rejected(code, e.Error, "HTTP request failed with status code: %d (%s)", code, e.Error)
	case e.Error != "":
		return rejected(code, e.Error, "k8sd request failed: %s", e.Error)
	case len(e.Metadata) == 0, string(e.Metadata) == "null":
		return nil
	}
	if err := json.Unmarshal(e.Metadata, into); err != nil {
		return unknown(code, errors.Join(errors.New("failed to parse the metadata of the HTTP response"), err))
	}
	return nil
}

// clipped bounds a foreign text.
func clipped(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "..."
}
