// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"

	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
)

// KeyPrefix is the prefix of the annotation keys in use in a member. It waits until one is known that is another than
// but (empty: any), or returns the error of ctx.
func (p *Provider) KeyPrefix(ctx context.Context, name multicluster.ClusterName, but string) (string, error) {
	for {
		p.mu.RLock()
		prefix, found := p.prefixes[name], p.found
		p.mu.RUnlock()
		if prefix != "" && prefix != but {
			return prefix, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-found:
		}
	}
}

// answers notes the prefix of a member, and wakes who waits for it.
func (p *Provider) answers(name multicluster.ClusterName, prefix string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.prefixes[name] == prefix {
		return
	}
	p.prefixes[name] = prefix
	close(p.found)
	p.found = make(chan struct{})
}
