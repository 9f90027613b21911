// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package report turns the hub's objects into one report of the fleet: what is done, what is under way, what waits, why,
// since when and until when.
//
//	hub objects ──Load──▶ Input ──Build(now)──▶ Report ──Table──▶ text
//	                reads only       pure          value        pure
//
// A Report is a value: it can be printed as a table, as JSON or as YAML, and two of them can be compared (Changes).
// Build reads no member and no clock. Its JSON form is documented in docs/cli.md and only grows.
package report
