// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-dev/windlass/engine/capi"
	"github.com/windlass-dev/windlass/engine/k8sd"
	"github.com/windlass-dev/windlass/engine/protocol"
)

// machines is the single-machine controller (PROTOCOL.md 2).
type machines struct {
	member
	events record.EventRecorder
}

// look is one reconcile of one machine.
type look struct {
	*machines
	helper

	machine *unstructured.Unstructured
	node    k8sd.Node
	option  string
}

// Reconcile takes the machine one state further.
func (r *machines) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	machine := capi.Object(r.kinds.Machine)
	if err := r.reader.Get(ctx, req.NamespacedName, machine); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	option, asked := machine.GetAnnotations()[keys.To]
	if !asked {
		return reconcile.Result{}, nil // whatever else is left on it
	}
	seen := capi.ParseMachine(machine)
	cluster := types.NamespacedName{Namespace: seen.Namespace, Name: seen.Cluster}
	if err := r.reader.Get(ctx, cluster, capi.Object(r.kinds.Cluster)); err != nil {
		return reconcile.Result{}, fmt.Errorf("reading cluster %s: %w", cluster, err)
	}
	if err := r.have(ctx, cluster, "-kubeconfig", "value"); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.have(ctx, cluster, "-token", "value"); err != nil {
		return reconcile.Result{}, err
	}
	l := look{r, r.helper(machine), machine, k8sd.Node{Cluster: cluster, Machine: seen.Name, NodeName: seen.NodeName}, option}
	if _, begun := machine.GetAnnotations()[keys.ChangeID]; !begun {
		return reconcile.Result{}, l.request(ctx)
	}
	status, known := machine.GetAnnotations()[keys.Status]
	if !known {
		if err := l.fail(ctx, "missing in-place upgrade status"); err != nil {
			return reconcile.Result{}, err
		}
		// and on to the next, which marks it failed once more (fault 22)
	}
	switch status {
	case protocol.StatusInProgress:
		return l.poll(ctx)
	case protocol.StatusDone:
		return reconcile.Result{}, l.finish(ctx)
	case protocol.StatusFailed:
		return reconcile.Result{}, l.retry(ctx)
	default:
		return reconcile.Result{}, l.fail(ctx, "invalid in-place upgrade status")
	}
}

// request forgets what the machine ran before it knows whether the node can be asked at all (fault 9), and records the
// change only after the node has begun it.
func (l look) request(ctx context.Context) error {
	if err := l.tokenThere(ctx); err != nil {
		return err
	}
	change(l.machine, nil, keys.Status, keys.ChangeID, keys.Release)
	if err := l.patch(ctx, l.machine); err != nil {
		return err
	}
	target, err := parseOption(l.option)
	if err != nil {
		return err
	}
	var changeID string
	err = l.ask(func(c *k8sd.Client) error {
		var err error
		changeID, err = c.Refresh(ctx, l.node, target)
		return err
	})
	if err != nil {
		return err
	}
	change(l.machine, map[string]string{keys.Status: protocol.StatusInProgress, keys.ChangeID: changeID})
	if err := l.patch(ctx, l.machine); err != nil {
		return err
	}
	l.events.Eventf(l.machine, corev1.EventTypeNormal, protocol.EventInProgress,
		"Performing in place upgrade with %s", l.option)
	return nil
}

// poll has no deadline (fault 4).
func (l look) poll(ctx context.Context) (reconcile.Result, error) {
	if err := l.tokenThere(ctx); err != nil {
		return reconcile.Result{}, err
	}
	var status k8sd.Status
	err := l.ask(func(c *k8sd.Client) error {
		var err error
		status, err = c.RefreshStatus(ctx, l.node, l.machine.GetAnnotations()[keys.ChangeID])
		return err
	})
	switch {
	case err != nil:
		return reconcile.Result{}, err
	case !status.Completed:
		return reconcile.Result{RequeueAfter: l.pause}, nil
	case status.Status == k8sd.StatusError:
		return reconcile.Result{}, l.fail(ctx, status.ErrorMessage)
	case status.Status != k8sd.StatusDone:
		return reconcile.Result{}, l.fail(ctx, "invalid refresh status")
	}
	change(l.machine, map[string]string{keys.Status: protocol.StatusDone})
	if err := l.patch(ctx, l.machine); err != nil {
		return reconcile.Result{}, err
	}
	l.events.Eventf(l.machine, corev1.EventTypeNormal, protocol.EventDone,
		"Successfully performed in place upgrade with %s", l.option)
	return reconcile.Result{}, nil
}

// finish records what is asked for now, which is not always what was refreshed to (fault 6).
func (l look) finish(ctx context.Context) error {
	change(l.machine, map[string]string{keys.Release: l.option}, keys.To, keys.ChangeID, keys.LastFailed)
	return l.patch(ctx, l.machine)
}

// retry asks for the next refresh at once, however many there were (fault 1).
func (l look) retry(ctx context.Context) error {
	change(l.machine, nil, keys.Status, keys.ChangeID)
	return l.patch(ctx, l.machine)
}

func (l look) fail(ctx context.Context, why string) error {
	change(l.machine, map[string]string{
		keys.Status: protocol.StatusFailed, keys.LastFailed: time.Now().Format(time.RFC1123Z),
	})
	if err := l.patch(ctx, l.machine); err != nil {
		return err
	}
	l.events.Eventf(l.machine, corev1.EventTypeWarning, protocol.EventFailed,
		"Failed to perform in place upgrade with %s: %s", l.option, why)
	return nil
}

// ask makes a client and a connection for one call, as they do. A node that is not known is found out here.
func (l look) ask(call func(*k8sd.Client) error) error {
	if l.node.NodeName == "" {
		return fmt.Errorf("machine %s has no node reference", l.node.Machine)
	}
	c := k8sd.New(k8sd.Options{Reader: l.live, Clock: clock.RealClock{}})
	defer c.Close()
	return call(c)
}

func (l look) tokenThere(ctx context.Context) error {
	if err := l.have(ctx, l.node.Cluster, "-token", "node-token-"+l.node.Machine); err != nil {
		return fmt.Errorf("node-token for machine %q not found: %w", l.node.Machine, err)
	}
	return nil
}

// have claims that a Secret of a cluster is there and has a key.
func (m member) have(ctx context.Context, cluster types.NamespacedName, suffix, key string) error {
	s := &corev1.Secret{}
	name := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name + suffix}
	if err := m.live.Get(ctx, name, s); err != nil {
		return err
	}
	if len(s.Data[key]) == 0 {
		return fmt.Errorf("secret %s has no key %s", name, key)
	}
	return nil
}

// parseOption is their grammar: it takes an empty value, which the node then refuses.
func parseOption(text string) (protocol.Target, error) {
	option, value, found := strings.Cut(text, "=")
	if !found || strings.Contains(value, "=") {
		return protocol.Target{}, errors.New("invalid in-place upgrade release annotation: " + text)
	}
	t := protocol.Target{Option: protocol.Option(option), Value: value}
	switch t.Option {
	case protocol.Channel, protocol.Revision, protocol.LocalPath:
		return t, nil
	default:
		return protocol.Target{}, errors.New("invalid upgrade option: " + option)
	}
}
