package authresilience

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// A format is how a credential is written, as far as that tells something.
type format string

const (
	formatJWT         format = "JWT"
	formatEKS         format = "EKS token"
	formatOpaque      format = "opaque token"
	formatCertificate format = "X.509"
)

// facts are what a credential tells about itself: a finding before it is judged. Its Name is the subject. With a
// Problem, nothing else counts. There is no secret in them.
type facts struct {
	Finding
	format format
	chain  window // of the certificates that come with a client certificate
}

func problem(text string) facts { return facts{Finding: Finding{Problem: text}} }

// A window is a span of time. A zero bound is none.
type window struct {
	notBefore, notAfter time.Time
}

// narrow returns the part that two windows share.
func (w window) narrow(other window) window {
	if other.notBefore.After(w.notBefore) {
		w.notBefore = other.notBefore
	}
	if w.notAfter.IsZero() || !other.notAfter.IsZero() && other.notAfter.Before(w.notAfter) {
		w.notAfter = other.notAfter
	}
	return w
}

// validity tells where now lies, where the clock of the server may differ by [ClockSkew] from ours.
func (w window) validity(now time.Time) Validity {
	switch {
	case !w.notAfter.IsZero() && now.After(w.notAfter.Add(ClockSkew)):
		return ValidityExpired
	case !w.notBefore.IsZero() && now.Before(w.notBefore.Add(-ClockSkew)):
		return ValidityNotYet
	case !w.notAfter.IsZero() && now.After(w.notAfter.Add(-ClockSkew)):
		return ValidityUnknown
	}
	return ValidityValid
}

// readCredential reads a token or certificate file as client-go does.
func readCredential(file string) (content []byte, trouble string) {
	content, err := os.ReadFile(file)
	content = bytes.TrimSpace(content)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "the file doesn't exist"
	case errors.Is(err, fs.ErrPermission):
		return nil, "the file may not be read"
	case err != nil:
		return nil, "the file can't be read"
	case len(content) == 0:
		return nil, "the file is empty"
	}
	return content, ""
}

// certificateFacts reads a client certificate in PEM form: the first certificate is the client's own, as crypto/tls has
// it, and the others are its chain. Everything else in the file, such as a key, is skipped unread.
func certificateFacts(data []byte) facts {
	var f facts
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return problem("one of its certificates can't be parsed")
		}
		w := window{cert.NotBefore.UTC(), cert.NotAfter.UTC()}
		if f.format == "" {
			f.format = formatCertificate
			f.Finding = Finding{NotBefore: w.notBefore, NotAfter: w.notAfter, Name: cert.Subject.CommonName,
				Issuer: cert.Issuer.CommonName}
			continue
		}
		f.chain = f.chain.narrow(w)
	}
	if f.format == "" {
		return problem("there is no certificate in it (PEM)")
	}
	return f
}

// tokenFacts reads what a bearer token says about itself. It checks no signature: that is the server's part.
func tokenFacts(token string) facts {
	switch {
	case strings.HasPrefix(strings.ToLower(token), "bearer "):
		return problem(`it begins with the word "Bearer", which the client adds itself`)
	case token != strings.TrimSpace(token) || strings.ContainsFunc(token, isControl):
		return problem("it contains spaces, line breaks or control characters that no HTTP header may have")
	case strings.HasPrefix(token, eksPrefix):
		return eksFacts(strings.TrimPrefix(token, eksPrefix))
	case strings.Count(token, ".") == 2:
		return jwtFacts(token)
	}
	return facts{format: formatOpaque}
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// An EKS token is a presigned URL of AWS' security token service. Its signature counts for 15 minutes from its date,
// whatever the URL says; see aws-iam-authenticator, pkg/token.
const (
	eksPrefix   = "k8s-aws-v1."
	eksLifetime = 15 * time.Minute
	eksDate     = "20060102T150405Z"
)

func eksFacts(encoded string) facts {
	decoded, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if err != nil {
		return problem("it begins like an EKS token, but isn't base64")
	}
	presigned, err := url.Parse(string(decoded))
	if err != nil {
		return problem("it begins like an EKS token, but holds no URL")
	}
	signed, err := time.Parse(eksDate, presigned.Query().Get("X-Amz-Date"))
	if err != nil {
		return problem("it begins like an EKS token, but says no date of its signature")
	}
	return facts{format: formatEKS, Finding: Finding{NotBefore: signed, NotAfter: signed.Add(eksLifetime)}}
}

// jwtFacts reads a token of three parts. Without a JWT's header it is an opaque one that has two dots.
func jwtFacts(token string) facts {
	parts := strings.Split(token, ".")
	header, err := jsonSegment(parts[0])
	algorithm, _ := header.text("alg")
	switch {
	case err != nil && strings.HasPrefix(token, "eyJ"): // base64 of `{"`
		return problem("it looks like a JWT, but its header can't be read")
	case algorithm == "":
		return facts{format: formatOpaque}
	}
	c, err := jsonSegment(parts[1])
	if err != nil {
		return problem("it is a JWT, but its claims can't be read")
	}
	return c.facts()
}

// claims are what a JSON Web Token says (RFC 7519, section 4.1). Their names are case-sensitive, which struct tags of
// encoding/json are not.
type claims map[string]json.RawMessage

func jsonSegment(encoded string) (c claims, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	return c, err
}

func (c claims) facts() facts {
	f := facts{format: formatJWT}
	oks := make([]bool, 5)
	f.Issuer, oks[0] = c.text("iss")
	f.Name, oks[1] = c.text("sub")
	f.Audiences, oks[2] = c.texts("aud")
	f.NotBefore, oks[3] = c.date("nbf")
	f.NotAfter, oks[4] = c.date("exp")
	switch {
	case !oks[0] || !oks[1] || !oks[2]:
		return problem("it is a JWT, but its issuer, subject or audience isn't a string")
	case !oks[3] || !oks[4]:
		return problem("it is a JWT, but its dates aren't seconds since 1970")
	}
	return f
}

// text returns a claim that is a text, empty if it is absent.
func (c claims) text(name string) (text string, ok bool) {
	return text, c[name] == nil || json.Unmarshal(c[name], &text) == nil
}

// texts returns a claim that is a text or a list of texts.
func (c claims) texts(name string) (texts []string, ok bool) {
	if text, ok := c.text(name); ok {
		return slices.DeleteFunc([]string{text}, func(s string) bool { return s == "" }), true
	}
	return texts, json.Unmarshal(c[name], &texts) == nil
}

// date returns a claim in seconds since 1970, perhaps with a fraction.
func (c claims) date(name string) (date time.Time, ok bool) {
	var seconds *float64
	if c[name] != nil && json.Unmarshal(c[name], &seconds) != nil {
		return time.Time{}, false
	}
	return numericDate(seconds)
}

// numericDate refuses what is no date of our times. Milliseconds, a frequent mistake, would be a year that
// has five digits.
func numericDate(seconds *float64) (time.Time, bool) {
	if seconds == nil {
		return time.Time{}, true
	}
	const year10000 = 253402300800
	if *seconds < 0 || *seconds >= year10000 {
		return time.Time{}, false
	}
	whole, fraction := math.Modf(*seconds)
	return time.Unix(int64(whole), int64(fraction*1e9)).UTC(), true
}
