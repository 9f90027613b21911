// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package live shows a rollout as it goes: it follows the hub's objects by watch events and draws what changed, as
// progress bars on a terminal and as one line per change elsewhere. It writes nothing to the hub and reads no member.
//
//	watch events ──source──▶ report.Input ──report.Build──▶ report.Report ──screen──▶ text
package live
