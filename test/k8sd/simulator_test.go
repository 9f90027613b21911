// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package k8sd_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/windlass-dev/windlass/test/k8sd"
)

const (
	node    = "eu-1-cp-0"
	token   = "0123456789abcdef0123456789abcdef"
	classic = "channel=1.33-classic/stable"
	before  = "v1.33.4"
	after   = "v1.33.9"

	refreshPath = "/1.0/snap/refresh"
	statusPath  = "/1.0/snap/refresh-status"
	toClassic   = `{"channel":"1.33-classic/stable","revision":"","localPath":""}`
)

// world is a simulator with one node and a clock that stands until it is stepped.
type world struct {
	*k8sd.Simulator

	t     *testing.T
	clock *clocktesting.FakeClock
	nodes *nodes
	addr  string
	http  *http.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
		nodes: &nodes{wrote: make(chan string, 100)},
	}
	var err error
	if w.Simulator, err = k8sd.New(k8sd.Options{Nodes: w.nodes, Clock: w.clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	addr, err := w.Add(node, token, before)
	if err != nil {
		t.Fatal(err)
	}
	w.addr = addr.String()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	w.http = &http.Client{Transport: transport}
	w.Release(classic, after)
	return w
}

// nodes records what is written, each write as one word.
type nodes struct {
	wrote chan string

	mu   sync.Mutex
	fail int // writes that still fail
}

func (n *nodes) SetVersion(_ context.Context, _, version string) error { return n.write(version) }

func (n *nodes) SetReady(_ context.Context, _ string, ready bool) error {
	if ready {
		return n.write("ready")
	}
	return n.write("not ready")
}

func (n *nodes) write(what string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fail > 0 {
		n.fail--
		n.wrote <- "failed"
		return errors.New("the API server is away")
	}
	n.wrote <- what
	return nil
}

// call posts body and returns the HTTP status and the reply without its final line end.
func (w *world) call(ctx context.Context, path, token, body string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+w.addr+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		req.Header.Set("node-token", token)
	}
	resp, err := w.http.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	reply, err := io.ReadAll(resp.Body)
	return resp.StatusCode, strings.TrimSuffix(string(reply), "\n"), err
}

// ask is a call that must be answered with 200; it returns the metadata.
func (w *world) ask(path, body string) string {
	w.t.Helper()
	code, reply, err := w.call(w.t.Context(), path, token, body)
	if err != nil || code != http.StatusOK {
		w.t.Fatalf("%s: %d, %v: %s", path, code, err, reply)
	}
	_, metadata, _ := strings.Cut(reply, `"metadata":`)
	return strings.TrimSuffix(metadata, "}")
}

func (w *world) script(steps ...k8sd.Step) {
	w.t.Helper()
	if err := w.Script(node, steps...); err != nil {
		w.t.Fatal(err)
	}
}

func success(metadata string) string {
	return `{"type":"sync","status":"Success","status_code":200,"operation":"","error_code":0,"error":"",` +
		`"metadata":` + metadata + `}`
}

func failure(code, text string) string {
	return `{"type":"error","status":"","status_code":0,"operation":"","error_code":` + code + `,` +
		`"error":"` + text + `","metadata":null}`
}

func TestRepliesAreThoseOfK8sd(t *testing.T) {
	type reply struct {
		Code int
		Body string
	}
	snapFailed := reply{500, failure("500", "failed to refresh snap: failed to refresh snap: exit status 1")}
	for name, test := range map[string]struct {
		given       func(*world)
		path, token string
		body        string
		want        reply
	}{
		"a refresh begins a change": {
			path: refreshPath, token: token, body: toClassic, want: reply{200, success(`{"changeId":"1"}`)},
		},
		"a running change is not completed": {
			given: func(w *world) { w.script(k8sd.Doing()); w.ask(refreshPath, toClassic) },
			path:  statusPath, token: token, body: `{"changeId":"1"}`,
			want: reply{200, success(`{"status":"Doing","completed":false,"errorMessage":""}`)},
		},
		"a change that nobody knows has no status": {
			path: statusPath, token: token, body: `{"changeId":"77"}`,
			want: reply{200, success(`{"status":"","completed":false,"errorMessage":""}`)},
		},
		"no token": {
			path: refreshPath, body: toClassic, want: reply{401, failure("401", `missing header \"node-token\"`)},
		},
		"another node's token": {
			path: statusPath, token: "x" + token[1:], body: `{"changeId":"1"}`,
			want: reply{401, failure("401", "invalid token")},
		},
		"no JSON": {
			path: refreshPath, token: token, body: ``, want: reply{400, failure("400", "failed to parse request: EOF")},
		},
		"an unknown field": {
			path: refreshPath, token: token, body: `{"chanel":"1.33"}`,
			want: reply{400, failure("400", `failed to parse request: json: unknown field \"chanel\"`)},
		},
		"an unknown field when asking for the status": {
			path: statusPath, token: token, body: `{"id":"1"}`,
			want: reply{400, failure("400", `failed to parse request: json: unknown field \"id\"`)},
		},
		"two targets": {
			path: refreshPath, token: token, body: `{"channel":"1.33-classic/stable","revision":"12"}`,
			want: reply{400, failure("400",
				"invalid refresh options: only one of localPath, channel or revision can be specified")},
		},
		"an empty target": {
			path: refreshPath, token: token, body: `{"channel":"","revision":"","localPath":""}`,
			want: reply{400, failure("400", "invalid refresh options: empty snap refresh target")},
		},
		"a channel that does not exist": {
			path: refreshPath, token: token, body: `{"channel":"1.99-classic/stable"}`, want: snapFailed,
		},
		"a second refresh beside a running one": {
			given: func(w *world) { w.script(k8sd.Doing()); w.ask(refreshPath, toClassic) },
			path:  refreshPath, token: token, body: toClassic, want: snapFailed,
		},
		"a target that the node has already": {
			given: func(w *world) { w.Release("revision=12", before) },
			path:  refreshPath, token: token, body: `{"revision":"12"}`, want: reply{200, success(`{"changeId":""}`)},
		},
		"nothing to do by script": {
			given: func(w *world) { w.script(k8sd.NoChange()) },
			path:  refreshPath, token: token, body: toClassic, want: reply{200, success(`{"changeId":""}`)},
		},
		"a k8sd that starts": {
			given: func(w *world) { w.fail(k8sd.Unavailable()) },
			path:  refreshPath, token: token, body: toClassic,
			want: reply{503, failure("503", "Database is not yet initialized")},
		},
		"a k8sd that starts answers so before it looks at the token": {
			given: func(w *world) { w.fail(k8sd.Unavailable()) },
			path:  statusPath, body: `{"changeId":"1"}`, want: reply{503, failure("503", "Database is not yet initialized")},
		},
		"a token that was regenerated": {
			given: func(w *world) { w.fail(k8sd.Unauthorized()) },
			path:  refreshPath, token: token, body: toClassic, want: reply{401, failure("401", "invalid token")},
		},
		"snapd is away": {
			given: func(w *world) { w.fail(k8sd.Internal("failed to get snap refresh status: EOF")) },
			path:  statusPath, token: token, body: `{"changeId":"1"}`,
			want: reply{500, failure("500", "failed to get snap refresh status: EOF")},
		},
		"a refresh refused by script": {
			given: func(w *world) { w.script(k8sd.Refused(k8sd.SnapFailed())) },
			path:  refreshPath, token: token, body: toClassic, want: snapFailed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if test.given != nil {
				test.given(w)
			}
			code, body, err := w.call(t.Context(), test.path, test.token, test.body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, reply{code, body}); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
		})
	}
}

func (w *world) fail(f k8sd.Fault) {
	w.t.Helper()
	if err := w.Fail(node, f, 1); err != nil {
		w.t.Fatal(err)
	}
}

func TestChangeEndsAsScripted(t *testing.T) {
	const takes = 30 * time.Second
	type end struct {
		Change string
		Wrote  []string // into the Node, until the change had ended
	}
	for name, test := range map[string]struct {
		step k8sd.Step
		want end
	}{
		"done": {
			k8sd.Done(takes), end{`{"status":"Done","completed":true,"errorMessage":""}`, []string{after}},
		},
		"error": {
			k8sd.Error(takes, "cannot perform the following tasks"),
			end{`{"status":"Error","completed":true,"errorMessage":"cannot perform the following tasks"}`, nil},
		},
		"undone": {
			k8sd.Undone(takes), end{`{"status":"Undone","completed":true,"errorMessage":""}`, nil},
		},
		"done with a node that is not ready for a while": {
			k8sd.Done(takes).Blip(time.Minute),
			end{`{"status":"Done","completed":true,"errorMessage":""}`, []string{"not ready", after}},
		},
		"done with a node that says so later": {
			k8sd.Done(takes).Lagging(time.Minute), end{`{"status":"Done","completed":true,"errorMessage":""}`, nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.script(test.step)
			w.ask(refreshPath, toClassic)
			w.clock.Step(takes - time.Nanosecond)
			if got := w.ask(statusPath, `{"changeId":"1"}`); !strings.Contains(got, `"Doing","completed":false`) {
				t.Errorf("just before its end the change is %s", got)
			}
			w.clock.Step(time.Nanosecond)
			got := end{Change: w.completed("1")}
			for len(w.nodes.wrote) > 0 {
				got.Wrote = append(got.Wrote, <-w.nodes.wrote)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("end (-want +got):\n%s", diff)
			}
		})
	}
}

// completed asks until the change has ended, which needs no time of the clock any more.
func (w *world) completed(id string) string {
	w.t.Helper()
	for w.t.Context().Err() == nil {
		if s := w.ask(statusPath, `{"changeId":"`+id+`"}`); strings.Contains(s, `"completed":true`) {
			return s
		}
	}
	return ""
}

func TestNodeIsReadyAgainAfterItsBlip(t *testing.T) {
	w := newWorld(t)
	w.script(k8sd.Done(0).Blip(time.Minute))
	w.ask(refreshPath, toClassic)
	w.completed("1")
	w.awaitTimer()
	w.clock.Step(time.Minute)
	if diff := cmp.Diff([]string{"not ready", after, "ready"}, w.writes(3)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestLaggingNodeSaysItsVersionAfterTheChangeIsDone(t *testing.T) {
	w := newWorld(t)
	w.script(k8sd.Done(0).Lagging(time.Minute))
	w.ask(refreshPath, toClassic)
	w.completed("1")
	if got := w.Version(node); got != before {
		t.Errorf("installed %s at the end of the change, want still %s", got, before)
	}
	w.awaitTimer()
	w.clock.Step(time.Minute)
	if diff := cmp.Diff([]string{after}, w.writes(1)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestNodeWriteIsTriedAgainAndTheChangeRunsMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.nodes.fail = 1
	w.ask(refreshPath, toClassic)
	if diff := cmp.Diff([]string{"failed"}, w.writes(1)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if got := w.ask(statusPath, `{"changeId":"1"}`); !strings.Contains(got, `"completed":false`) {
		t.Errorf("the change ended before its Node was written: %s", got)
	}
	w.awaitTimer()
	w.clock.Step(time.Second)
	w.completed("1")
	if diff := cmp.Diff([]string{after}, w.writes(1)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// writes waits for n writes of the Node.
func (w *world) writes(n int) []string {
	w.t.Helper()
	var got []string
	for range n {
		select {
		case one := <-w.nodes.wrote:
			got = append(got, one)
		case <-time.After(10 * time.Second):
			w.t.Fatalf("only %v written", got)
		}
	}
	return got
}

// awaitTimer returns when the simulator waits on its clock.
func (w *world) awaitTimer() {
	w.t.Helper()
	for !w.clock.HasWaiters() {
		if w.t.Context().Err() != nil {
			w.t.Fatal("the simulator waits for nothing")
		}
	}
}

func TestPrunedChangeIsUnknownThoughTheNodeIsDone(t *testing.T) {
	w := newWorld(t)
	w.script(k8sd.Pruned(0))
	w.ask(refreshPath, toClassic)
	w.writes(1)
	want := `{"status":"","completed":false,"errorMessage":""}`
	if diff := cmp.Diff(want, w.ask(statusPath, `{"changeId":"1"}`)); diff != "" {
		t.Errorf("change (-want +got):\n%s", diff)
	}
}

func TestFailureThenSuccessByScript(t *testing.T) {
	w := newWorld(t)
	w.script(k8sd.Error(0, "no space left on device"))
	ends := []string{}
	for _, id := range []string{"1", "2"} {
		if got := w.ask(refreshPath, toClassic); got != `{"changeId":"`+id+`"}` {
			t.Fatalf("refresh: %s, want change %s", got, id)
		}
		ends = append(ends, w.completed(id))
	}
	want := []string{
		`{"status":"Error","completed":true,"errorMessage":"no space left on device"}`,
		`{"status":"Done","completed":true,"errorMessage":""}`,
	}
	if diff := cmp.Diff(want, ends); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
}

func TestRestartingK8sdIsUnavailableForAsLongAsItSays(t *testing.T) {
	w := newWorld(t)
	w.script(k8sd.Done(0).Restarting(time.Minute))
	w.ask(refreshPath, toClassic)
	w.writes(1)
	code := func() int {
		code, _, err := w.call(t.Context(), statusPath, token, `{"changeId":"1"}`)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	for code() != http.StatusServiceUnavailable { // the Node is written just before the end
		if t.Context().Err() != nil {
			t.Fatal("never unavailable")
		}
	}
	w.clock.Step(time.Minute)
	if got := code(); got != http.StatusOK {
		t.Errorf("%d after the restart, want 200", got)
	}
}

func TestFaultsEndWithTheirTimeOrCount(t *testing.T) {
	w := newWorld(t)
	codes := func(n int) []int {
		var got []int
		for range n {
			code, _, err := w.call(t.Context(), statusPath, token, `{"changeId":"1"}`)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, code)
		}
		return got
	}
	if err := w.FailFor(node, k8sd.Unavailable(), time.Second); err != nil {
		t.Fatal(err)
	}
	got := codes(2)
	w.clock.Step(time.Second)
	got = append(got, codes(1)...)
	if err := w.Fail(node, k8sd.Unauthorized(), 2); err != nil {
		t.Fatal(err)
	}
	got = append(got, codes(3)...)
	if want := []int{503, 503, 200, 401, 401, 200}; !slices.Equal(want, got) {
		t.Errorf("answers %v, want %v", got, want)
	}
}

func TestConnectionFaults(t *testing.T) {
	for name, test := range map[string]struct {
		given   func(*world)
		refused bool // no refresh began
		limit   time.Duration
	}{
		"reset before the refresh begins":       {func(w *world) { w.fail(k8sd.Reset()) }, true, time.Minute},
		"reset by script":                       {func(w *world) { w.script(k8sd.Refused(k8sd.Reset())) }, true, time.Minute},
		"mute":                                  {func(w *world) { w.fail(k8sd.Mute()) }, true, 2 * time.Second},
		"the refresh begins, the reply is lost": {func(w *world) { w.script(k8sd.Doing().LosingReply()) }, false, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.given(w)
			ctx, cancel := context.WithTimeout(t.Context(), test.limit)
			defer cancel()
			if code, reply, err := w.call(ctx, refreshPath, token, toClassic); err == nil {
				t.Errorf("answered %d: %s", code, reply)
			}
			got := w.ask(statusPath, `{"changeId":"1"}`)
			if began := strings.Contains(got, k8sd.StatusDoing); began == test.refused {
				t.Errorf("began is %t: %s", began, got)
			}
		})
	}
}

func TestEveryRefreshThatReachesTheNodeIsCounted(t *testing.T) {
	w := newWorld(t)
	w.script(k8sd.Doing())
	begin := w.clock.Now()
	calls := []struct{ token, body string }{
		{token, toClassic},
		{token, toClassic}, // refused by snapd: one is running
		{"", toClassic},    // these never get so far
		{token, `{"channel":""}`},
	}
	for _, c := range calls {
		w.clock.Step(time.Second)
		if _, _, err := w.call(t.Context(), refreshPath, c.token, c.body); err != nil {
			t.Fatal(err)
		}
	}
	want := []k8sd.Post{
		{Time: begin.Add(time.Second), Node: node, Target: classic, ChangeID: "1"},
		{Time: begin.Add(2 * time.Second), Node: node, Target: classic},
	}
	if diff := cmp.Diff(want, w.Log()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if got := w.Refreshes(node); got != len(want) {
		t.Errorf("%d refreshes counted, want %d", got, len(want))
	}
}

func TestNodesHaveTheirOwnChanges(t *testing.T) {
	w := newWorld(t)
	w.script(k8sd.Doing())
	w.ask(refreshPath, toClassic)
	addr, err := w.Add("eu-1-cp-1", token, before)
	if err != nil {
		t.Fatal(err)
	}
	w.addr = addr.String()
	if got := w.ask(statusPath, `{"changeId":"1"}`); strings.Contains(got, k8sd.StatusDoing) {
		t.Errorf("the second node knows the first one's change: %s", got)
	}
	if got := w.ask(refreshPath, toClassic); got != `{"changeId":"1"}` {
		t.Errorf("refresh of the second node: %s, want its own change 1", got)
	}
	w.Remove("eu-1-cp-1")
	if _, _, err := w.call(t.Context(), statusPath, token, `{"changeId":"1"}`); err == nil {
		t.Error("a node that was removed answers")
	}
}

func TestScriptOfAnUnknownNodeIsAnError(t *testing.T) {
	w := newWorld(t)
	if err := w.Script("eu-2-cp-0", k8sd.Done(0)); err == nil || !strings.Contains(err.Error(), "eu-2-cp-0") {
		t.Errorf("error %v, want one that names the node", err)
	}
}
