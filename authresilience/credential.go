package authresilience

import "path/filepath"

// Credential describes what a client sends to prove who it is. It holds no secret. For a token or a certificate it
// keeps the dates, the issuer and the like, for a plugin the name, for a file the path. The zero value describes
// nothing.
type Credential struct {
	sources []source
	custom  bool // the caller wraps the transport, which may send other credentials
}

// A source is one of the credentials that a client sends, or was meant to send.
type source struct {
	kind CredentialKind
	name string // of the file or plugin
	// file is where the facts have to be read from at the time of the diagnosis, in place of those below.
	file  string
	facts facts
}

// ClientConfig is what a client is configured with to prove who it is. Package restconfig fills it in from client-go's
// rest.Config, whose fields of the same names have the same meaning.
type ClientConfig struct {
	CertData        []byte
	CertFile        string
	HasKey          bool // of the certificate
	BearerToken     string
	BearerTokenFile string
	HasPassword     bool    // a user name or a password is set
	ExecCommand     *string // of the exec plugin, nil if there is none
	AuthProvider    *string // its name, nil if there is none
	CustomTransport bool    // the caller wraps the transport, which may send other credentials
}

// CredentialOf describes the credentials of a client. It reads no file and starts no plugin. It leaves out credentials
// that client-go doesn't send: a plugin isn't asked when there are other credentials. The exception is a certificate
// without a key, which client-go drops silently: it gets a [Finding].
func CredentialOf(config ClientConfig) Credential {
	c := Credential{custom: config.CustomTransport}
	sent := c.addCertificate(config)
	sent = c.addToken(config) || sent
	if config.HasPassword {
		c.add(source{kind: BasicAuth})
		sent = true
	}
	if config.ExecCommand != nil && !sent {
		c.add(source{kind: ExecPlugin, name: filepath.Base(*config.ExecCommand)})
	}
	if config.AuthProvider != nil {
		c.add(source{kind: AuthProvider, name: *config.AuthProvider})
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
// out silently.
func (c *Credential) addCertificate(config ClientConfig) bool {
	hasCert := len(config.CertData) > 0 || config.CertFile != ""
	switch {
	case !hasCert:
	case !config.HasKey:
		c.add(source{kind: ClientCertificate,
			facts: facts{Finding: Finding{Problem: "it isn't sent, since its key is missing", unsent: true}}})
	case len(config.CertData) > 0:
		c.add(source{kind: ClientCertificate, facts: certificateFacts(config.CertData)})
	default:
		c.add(source{kind: ClientCertificate, name: config.CertFile, file: config.CertFile})
	}
	return hasCert && config.HasKey
}

// addToken describes the token that is sent: that of the file when there is one. The other is what client-go falls back
// to as long as it could not read the file.
func (c *Credential) addToken(config ClientConfig) bool {
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
