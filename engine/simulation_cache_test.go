// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// simCache is what watches have delivered.
type simCache struct {
	objects map[schema.GroupVersionKind]map[types.NamespacedName]*unstructured.Unstructured
}

func newSimCache() *simCache {
	return &simCache{map[schema.GroupVersionKind]map[types.NamespacedName]*unstructured.Unstructured{}}
}

func (c *simCache) put(gvk schema.GroupVersionKind, key types.NamespacedName, o *unstructured.Unstructured) {
	if c.objects[gvk] == nil {
		c.objects[gvk] = map[types.NamespacedName]*unstructured.Unstructured{}
	}
	if o == nil {
		delete(c.objects[gvk], key)
		return
	}
	c.objects[gvk][key] = o
}

// sorted are the objects of a kind by name; they are not to be changed.
func (c *simCache) sorted(gvk schema.GroupVersionKind) []*unstructured.Unstructured {
	all := make([]*unstructured.Unstructured, 0, len(c.objects[gvk]))
	for _, o := range c.objects[gvk] {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all
}

func (c *simCache) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	u := o.(*unstructured.Unstructured)
	found := c.objects[u.GroupVersionKind()][key]
	if found == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: u.GetKind()}, key.Name)
	}
	u.Object = found.DeepCopy().Object
	return nil
}

func (c *simCache) List(_ context.Context, l client.ObjectList, opts ...client.ListOption) error {
	list := l.(*unstructured.UnstructuredList)
	o := (&client.ListOptions{}).ApplyOptions(opts)
	gvk := list.GroupVersionKind()
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	for _, u := range c.sorted(gvk) {
		if o.LabelSelector != nil && !o.LabelSelector.Matches(labels.Set(u.GetLabels())) {
			continue
		}
		list.Items = append(list.Items, *u.DeepCopy())
	}
	return nil
}
