// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package policy decides what a rollout does next, and says why, from plain values alone: no client, no clock, no
// memory. MakePlan puts the selected clusters into waves; Decide says which of them may begin, hold or withdraw.
//
// A decision is a value: the same Fleet gives the same Decision, and nothing is written here. The caller writes the
// intents of a Decision before anything touches a member (law 4 of DESIGN.md) and shows the rest as status.
package policy
