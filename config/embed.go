// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

// Package config holds the manifests that programs need at run time.
package config

import "embed"

// CRDs are the hub's kinds, a file each, under crd/bases.
//
//go:embed crd/bases/*.yaml
var CRDs embed.FS
