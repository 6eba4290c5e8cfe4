package controller_test

import (
	"bytes"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
)

// Whoever answers about a ConfigMap may quote a value of it that must not be shown: no condition, event or log has it. LEAKS=all
// tries all cases, on a server that has an address for the Service of each.
func TestQuotedSecretsStaySecret(t *testing.T) {
	t.Parallel()
	server := controlplane.Shared(t)
	if os.Getenv("LEAKS") == "all" {
		server = controlplane.ForTest(t, controlplane.Options{APIServerArgs: []string{"--service-cluster-ip-range=10.0.0.0/16"}})
	}
	w := worldOn(t, server)
	var log journal
	proxy := faultproxy.StartAs(t, w.Config)
	spoiled, err := rest.TransportFor(proxy.Client(""))
	require.NoError(t, err)
	to, err := url.Parse(proxy.Client("").Host)
	require.NoError(t, err)
	secret, err := projection.ParsePatterns("data.k")
	require.NoError(t, err)
	w.operate(func(s *settings) {
		s.manager.Logger = funcr.New(func(prefix, args string) { log.add(prefix + " " + args) }, funcr.Options{Verbosity: 1})
		s.manager.Controller.MaxConcurrentReconciles = 8
		s.controller.Sensitive, s.time = secret, &clock.Fake{LongestSleep: time.Millisecond}
		s.wrap = func(next http.RoundTripper) http.RoundTripper { return fork{next, spoiled, to} }
	})

	tried, withheld, logged := leak.Tried(len(faultproxy.Quotes), 11), 0, false
	for cases := range slices.Chunk(tried, 60) {
		proxy.Heal()
		var websites []*v1alpha1.Website
		for _, one := range cases {
			websites = append(websites, w.website(one.Name(), func(s *v1alpha1.WebsiteSpec) { s.Config = map[string]string{"k": one.Secret()} }))
		}
		w.awaitSynced(websites...)
		for _, phase := range []faultproxy.Phase{faultproxy.DryRuns, faultproxy.Writes, faultproxy.Reads} {
			proxy.InjectQuotes(phase)
			for _, website := range websites {
				w.edit(website, func(s *v1alpha1.WebsiteSpec) { s.Config["phase"] = string(phase) })
			}
			for i, website := range websites {
				w.eventually("a condition of "+website.Name, func() bool { return w.condition(website, v1alpha1.Synced).Type != "" })
				shown := shownOf(w, website)
				require.Empty(t, leak.In(shown, cases[i].Secret()), "%s quotes %q as %s in a %s: %s",
					faultproxy.Quotes[cases[i].Answer].Name, cases[i].Secret(), leak.Echoes[cases[i].Echo].Name, phase, shown)
				withheld += strings.Count(shown, "withheld")
			}
		}
		for _, website := range websites { // it would be tried again and again
			require.NoError(t, w.admin.Delete(t.Context(), website))
		}
		said := log.take()
		require.Empty(t, leak.Found(said), "the log")
		logged = logged || strings.Contains(said, "withheld")
	}
	require.Greater(t, withheld, len(tried), "that something was withheld is said")
	require.True(t, logged, "in the log, too")
	t.Logf("figure: %d Websites, in three phases: nothing of what was quoted is in their conditions, events and logs", len(tried))
}

// shownOf returns what a Website shows of its children: its status, and the messages of its events.
func shownOf(w *world, website *v1alpha1.Website) string {
	w.Helper()
	shown := []string{}
	for _, c := range website.Status.Conditions {
		shown = append(shown, c.Reason, c.Message)
	}
	var list corev1.EventList
	require.NoError(w, w.admin.List(w.Context(), &list, client.InNamespace(w.Namespace), client.MatchingFields{"involvedObject.name": website.Name}))
	for _, e := range list.Items {
		shown = append(shown, e.Reason, e.Message)
	}
	return strings.Join(shown, "\n")
}

// fork sends what is about single ConfigMaps to another server.
type fork struct {
	next, other http.RoundTripper
	to          *url.URL
}

func (f fork) RoundTrip(request *http.Request) (*http.Response, error) {
	if !strings.Contains(request.URL.Path, "/configmaps/") {
		return f.next.RoundTrip(request)
	}
	request = request.Clone(request.Context())
	request.URL.Scheme, request.URL.Host = f.to.Scheme, f.to.Host
	return f.other.RoundTrip(request)
}

// journal is a log that may be written at the same time by many.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text.WriteString(line + "\n")
}

// take returns what was written since it was taken before.
func (j *journal) take() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer j.text.Reset()
	return j.text.String()
}
