// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package env

import "syscall"

// childAttributes: a Ctrl-C at the terminal reaches the parent only, which closes in order. There is no signal for a
// parent's death here.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
