package cmd

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

// Remembered results belong to one server and one user, however the user is identified. They stay valid when a token is
// renewed.
func TestTheMemoryIsBoundToTheUser(t *testing.T) {
	token := func(claims string) string {
		return "head." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".signature"
	}
	scope := func(change func(*rest.Config)) string {
		config := &rest.Config{Host: "https://here", BearerToken: token(`{"iss":"here","sub":"a","exp":1}`)}
		change(config)
		return (&cluster{config: config, user: "u"}).scope()
	}
	first := scope(func(*rest.Config) {})
	require.Equal(t, first, scope(func(c *rest.Config) { c.BearerToken = token(`{"iss":"here","sub":"a","exp":2}`) }))
	seen := map[string]string{first: "unchanged"}
	for what, change := range map[string]func(*rest.Config){
		"another subject": func(c *rest.Config) { c.BearerToken = token(`{"iss":"here","sub":"b"}`) },
		"another issuer":  func(c *rest.Config) { c.BearerToken = token(`{"iss":"there","sub":"a"}`) },
		"no claims":       func(c *rest.Config) { c.BearerToken = "a.b.c" },
		"a plain token":   func(c *rest.Config) { c.BearerToken = "secret" },
		"another":         func(c *rest.Config) { c.BearerToken = "another" },
		"a server":        func(c *rest.Config) { c.Host = "https://there" },
		"a certificate":   func(c *rest.Config) { c.CertData = []byte("cert") },
		"a file of one":   func(c *rest.Config) { c.CertFile = "cert" },
		"an authority":    func(c *rest.Config) { c.CAFile = "ca" },
		"a name":          func(c *rest.Config) { c.Username = "u" },
		"impersonation":   func(c *rest.Config) { c.Impersonate.UserName = "u" },
		"of a uid":        func(c *rest.Config) { c.Impersonate.UID = "u" },
		"of a group":      func(c *rest.Config) { c.Impersonate.Groups = []string{"u"} },
		"of something":    func(c *rest.Config) { c.Impersonate.Extra = map[string][]string{"u": {"v"}} },
	} {
		got := scope(change)
		require.NotContains(t, seen, got, what)
		require.NotContains(t, got, "secret")
		seen[got] = what
	}
}
