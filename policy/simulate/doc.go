// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package simulate plays rollouts through virtual time: the real policy.Decide, in a world of clusters, machines,
// windows and mishaps that is made up. It goes from event to event, so a year of waiting costs nothing, and the same
// input always gives the same result.
//
// What is made up follows the laws of the parts that it stands for: machines of a cluster are upgraded one after
// another, each begins only while the hub's permission lasts, and when the hub or a member is silent that permission
// ends within an hour.
package simulate
