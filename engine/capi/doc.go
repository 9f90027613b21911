// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package capi turns Cluster API objects of any served version into plain values, and says what is healthy and what
// is proven. Engine and fleet judge members with the same functions, so they can never disagree.
//
// An absent field is an absent value, never an error: a member that does not report something is Unknown there, and
// Unknown is never success (law 3 of DESIGN.md).
package capi
