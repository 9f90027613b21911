// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// MaxText is the longest text that a status takes over from an annotation or a node, such as a release or a claim, in
// characters; see BoundTo.
const MaxText = 512

// BoundTo cuts a text to a number of characters. Bytes that are no UTF-8 are replaced.
func BoundTo(most int, text string) string {
	runes := []rune(text)
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}
