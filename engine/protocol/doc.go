// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package protocol is the in-place upgrade protocol as plain values: the names of the annotations, the grammar of
// a target, the state that a set of annotations means, and the records that Windlass adds beside them. It reads no
// clock, takes no client, and imports nothing but the standard library, so that any program can speak it.
//
// A machine goes round once for each upgrade; an owner (control plane or machine deployment) hands targets to its
// machines one by one:
//
//	           to                     to, status=in-progress,            to, status=done,
//	{} ───────────────▶ {to} ────────▶  change-id ─────────────────────▶   change-id ───────▶ {status=done, release}
//	 Idle            Requested             InProgress                      Finishing              Idle again
//	                    ▲                      │ k8sd says Error
//	                    │ after the back-off   ▼
//	                    └───────── {to, status=failed, change-id, last-failed}
//	                                        FailedAttempt
//
// The keys carry a prefix (see [Keys]): "v1beta2.k8sd.io/" where no other controller answers it, else "windlass.dev/".
// Names, values and grammar are the same under both.
package protocol
