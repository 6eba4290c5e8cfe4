package authresilience

import (
	"path/filepath"

	"k8s.io/client-go/rest"
)

// A CredentialKind is a way of proving to a server who is asking.
type CredentialKind string

// The ways that a client's configuration offers.
const (
	BearerToken       CredentialKind = "bearer token"
	TokenFile         CredentialKind = "token file"
	ClientCertificate CredentialKind = "client certificate"
	BasicAuth         CredentialKind = "user name and password"
	ExecPlugin        CredentialKind = "exec plugin"
	AuthProvider      CredentialKind = "auth provider"
	CustomTransport   CredentialKind = "custom transport"
	NoCredential      CredentialKind = "no credentials"
)

// Credential describes what a client sends to prove who it is. It holds no secret: of a token or a certificate it keeps
// what they tell about themselves, of a plugin the name, of a file the path. The zero value says nothing.
type Credential struct {
	sources []source
	custom  bool // the host wraps the transport, and may send something else
}

// A source is one of the credentials that a client sends, or was meant to send.
type source struct {
	kind CredentialKind
	name string // of the file or plugin
	// file is where the facts have to be read from at the time of the diagnosis, in place of those below.
	file  string
	facts facts
}

// FromRESTConfig describes the credentials of a client that is made from config. It reads no file and starts no plugin.
// What is not going to be sent is left out: client-go doesn't ask a plugin when there are other credentials. Only a
// certificate without a key, which client-go leaves out without a word, is a [Finding] of its own. The description
// doesn't change when config does later.
func FromRESTConfig(config *rest.Config) Credential {
	if config == nil {
		return Credential{}
	}
	c := Credential{custom: config.Transport != nil || config.WrapTransport != nil}
	sent := c.addCertificate(config.TLSClientConfig)
	sent = c.addToken(config) || sent
	if config.Username != "" || config.Password != "" {
		c.add(source{kind: BasicAuth})
		sent = true
	}
	if config.ExecProvider != nil && !sent {
		c.add(source{kind: ExecPlugin, name: filepath.Base(config.ExecProvider.Command)})
	}
	if config.AuthProvider != nil {
		c.add(source{kind: AuthProvider, name: config.AuthProvider.Name})
	}
	switch {
	case len(c.sources) > 0:
	case c.custom:
		c.add(source{kind: CustomTransport})
	default:
		c.add(source{kind: NoCredential})
	}
	return c
}

// IsZero reports whether c says nothing.
func (c Credential) IsZero() bool { return len(c.sources) == 0 }

func (c *Credential) add(s source) {
	c.sources = append(c.sources, s)
}

// addCertificate describes the client certificate, and reports whether it is sent: without a key client-go leaves it
// out and says nothing.
func (c *Credential) addCertificate(config rest.TLSClientConfig) bool {
	hasCert := len(config.CertData) > 0 || config.CertFile != ""
	hasKey := len(config.KeyData) > 0 || config.KeyFile != ""
	switch {
	case !hasCert:
	case !hasKey:
		c.add(source{kind: ClientCertificate, facts: facts{Finding: Finding{Problem: "it isn't sent, since its key is missing", unsent: true}}})
	case len(config.CertData) > 0:
		c.add(source{kind: ClientCertificate, facts: certificateFacts(config.CertData)})
	default:
		c.add(source{kind: ClientCertificate, name: config.CertFile, file: config.CertFile})
	}
	return hasCert && hasKey
}

// addToken describes the token that is sent: that of the file when there is one. The other is what client-go falls back
// to as long as it could not read the file.
func (c *Credential) addToken(config *rest.Config) bool {
	var static facts
	if config.BearerToken != "" {
		static = tokenFacts(config.BearerToken)
	}
	switch {
	case config.BearerTokenFile != "":
		c.add(source{kind: TokenFile, name: config.BearerTokenFile, file: config.BearerTokenFile, facts: static})
	case config.BearerToken != "":
		c.add(source{kind: BearerToken, facts: static})
	default:
		return false
	}
	return true
}

// current returns what the credential tells about itself now, which for files is what is in them.
func (s source) current() facts {
	if s.file == "" {
		return s.facts
	}
	content, trouble := readCredential(s.file)
	switch {
	case trouble != "" && s.facts.format != "":
		return s.facts
	case trouble != "":
		return problem(trouble)
	case s.kind == ClientCertificate:
		return certificateFacts(content)
	default:
		return tokenFacts(string(content))
	}
}
