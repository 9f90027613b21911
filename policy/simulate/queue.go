// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"container/heap"
	"time"
)

// queue is what is going to happen, the earliest first; of one instant what was put in first.
type queue struct {
	items []item
	count int
}

type item struct {
	at    time.Time
	order int
	run   func()
}

// put lets something happen at an instant.
func (q *queue) put(at time.Time, run func()) {
	q.count++
	heap.Push(q, item{at, q.count, run})
}

// next is when the next thing happens; false: nothing will.
func (q *queue) next() (time.Time, bool) {
	if len(q.items) == 0 {
		return time.Time{}, false
	}
	return q.items[0].at, true
}

// run lets happen what is due.
func (q *queue) run(now time.Time) {
	for len(q.items) > 0 && !q.items[0].at.After(now) {
		due, _ := heap.Pop(q).(item)
		due.run()
	}
}

// Len, Less, Swap, Push and Pop are heap.Interface.
func (q *queue) Len() int { return len(q.items) }

// Less orders by instant, then by when it was put in.
func (q *queue) Less(i, j int) bool {
	if q.items[i].at.Equal(q.items[j].at) {
		return q.items[i].order < q.items[j].order
	}
	return q.items[i].at.Before(q.items[j].at)
}

// Swap swaps two.
func (q *queue) Swap(i, j int) { q.items[i], q.items[j] = q.items[j], q.items[i] }

// Push adds one at the end.
func (q *queue) Push(x any) {
	due, _ := x.(item)
	q.items = append(q.items, due)
}

// Pop takes the last.
func (q *queue) Pop() any {
	last := q.items[len(q.items)-1]
	q.items[len(q.items)-1] = item{}
	q.items = q.items[:len(q.items)-1]
	return last
}
