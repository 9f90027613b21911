// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package trial is what windlass plan and windlass simulate do, without their command line: it reads files, plans or plays
// a policy, and prints.
package trial
