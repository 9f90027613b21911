// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// What k8sd says when it refuses (PROTOCOL.md 4.3). It names neither node nor cause.
const (
	errMissingToken = `missing header "node-token"`
	errInvalidToken = "invalid token"
	errParse        = "failed to parse request: "
	errManyTargets  = "invalid refresh options: only one of localPath, channel or revision can be specified"
	errNoTarget     = "invalid refresh options: empty snap refresh target"
	errSnapCommand  = "failed to refresh snap: failed to refresh snap: exit status 1"
)

type envelope struct {
	Type       string `json:"type"`
	Status     string `json:"status"`
	StatusCode int    `json:"status_code"`
	Operation  string `json:"operation"`
	ErrorCode  int    `json:"error_code"`
	Error      string `json:"error"`
	Metadata   any    `json:"metadata"`
}

type refreshRequest struct {
	Channel   string `json:"channel"`
	Revision  string `json:"revision"`
	LocalPath string `json:"localPath"`
}

type changeID struct {
	ChangeID string `json:"changeId"`
}

type changeStatus struct {
	Status       string `json:"status"`
	Completed    bool   `json:"completed"`
	ErrorMessage string `json:"errorMessage"`
}

// target is what is asked for, in the grammar of the annotations.
func (r refreshRequest) target() (string, error) {
	var targets []string
	for _, t := range []struct{ option, value string }{
		{"channel", r.Channel}, {"revision", r.Revision}, {"localPath", r.LocalPath},
	} {
		if t.value != "" {
			targets = append(targets, t.option+"="+t.value)
		}
	}
	switch len(targets) {
	case 0:
		return "", errors.New(errNoTarget)
	case 1:
		return targets[0], nil
	}
	return "", errors.New(errManyTargets)
}

// decode reads one JSON object and nothing else: an unknown field or trailing data is refused.
func decode(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return errors.New(errParse + err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New(errParse + "trailing data")
	}
	return nil
}

func reply(w http.ResponseWriter, metadata any) {
	write(w, http.StatusOK, envelope{Type: "sync", Status: "Success", StatusCode: http.StatusOK, Metadata: metadata})
}

func fail(w http.ResponseWriter, code int, text string) {
	write(w, code, envelope{Type: "error", ErrorCode: code, Error: text})
}

func write(w http.ResponseWriter, code int, e envelope) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(e) // the caller has gone; it will ask again
}
