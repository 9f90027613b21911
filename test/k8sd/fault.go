// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd

import (
	"net"
	"net/http"
)

// Fault is a bad answer, or none.
type Fault struct {
	code  int
	text  string
	reset bool
}

// Unavailable is what a k8sd that is starting says: 503.
func Unavailable() Fault {
	return Fault{code: http.StatusServiceUnavailable, text: "Database is not yet initialized"}
}

// Unauthorized is what k8sd says when the token in the Secret is not the one on the node: 401.
func Unauthorized() Fault { return Fault{code: http.StatusUnauthorized, text: errInvalidToken} }

// Internal is an error inside k8sd: 500 with text.
func Internal(text string) Fault { return Fault{code: http.StatusInternalServerError, text: text} }

// SnapFailed is what k8sd says when the snap command failed. The cause stays on the node.
func SnapFailed() Fault { return Internal(errSnapCommand) }

// Reset cuts the connection.
func Reset() Fault { return Fault{reset: true} }

// Mute never answers.
func Mute() Fault { return Fault{} }

type connKey struct{}

// serve answers r as the fault says. It returns when the answer is given, the caller has gone or done is closed.
func (f Fault) serve(w http.ResponseWriter, r *http.Request, done <-chan struct{}) {
	switch {
	case f.reset:
		reset(r)
	case f.code == 0:
		select {
		case <-r.Context().Done():
		case <-done:
		}
	default:
		fail(w, f.code, f.text)
	}
}

// reset drops the TCP connection of r without a farewell.
func reset(r *http.Request) {
	conn, ok := r.Context().Value(connKey{}).(net.Conn)
	if !ok {
		return
	}
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = t.NetConn()
	}
	if t, ok := conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = conn.Close()
}
