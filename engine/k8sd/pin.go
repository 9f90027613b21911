// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
)

// pins remembers the certificate that each node showed first, as long as the process lives. A node that shows another
// one later is not spoken to: the token would go to whoever holds it.
type pins struct {
	mu   sync.Mutex
	seen map[Node]string
}

// verifier returns what checks the certificate of a node.
func (p *pins) verifier(node Node) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return errors.New("k8sd shows no certificate")
		}
		sum := sha256.Sum256(s.PeerCertificates[0].Raw)
		return p.check(node, "sha256:"+hex.EncodeToString(sum[:]))
	}
}

func (p *pins) check(node Node, fingerprint string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	first, known := p.seen[node]
	if !known {
		p.seen[node] = fingerprint
		return nil
	}
	if first != fingerprint {
		return fmt.Errorf("k8sd of %s shows another certificate than before: was %s, is %s; restart the engine to "+
			"accept it", node, first, fingerprint)
	}
	return nil
}
