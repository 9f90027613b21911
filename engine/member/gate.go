// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Gate returns a writer that asks before each write whether this process may still lead.
func Gate(w client.Writer, mayWrite func() error) client.Writer { return gated{w, mayWrite} }

type gated struct {
	client.Writer

	may func() error
}

func (g gated) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if err := g.may(); err != nil {
		return err
	}
	return g.Writer.Create(ctx, o, opts...)
}

func (g gated) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	if err := g.may(); err != nil {
		return err
	}
	return g.Writer.Delete(ctx, o, opts...)
}

func (g gated) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	if err := g.may(); err != nil {
		return err
	}
	return g.Writer.Update(ctx, o, opts...)
}

func (g gated) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if err := g.may(); err != nil {
		return err
	}
	return g.Writer.Patch(ctx, o, p, opts...)
}

func (g gated) Apply(ctx context.Context, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	if err := g.may(); err != nil {
		return err
	}
	return g.Writer.Apply(ctx, o, opts...)
}

func (g gated) DeleteAllOf(ctx context.Context, o client.Object, opts ...client.DeleteAllOfOption) error {
	if err := g.may(); err != nil {
		return err
	}
	return g.Writer.DeleteAllOf(ctx, o, opts...)
}
