package authresilience

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"
)

// tokenFacts reads what a bearer token says about itself. It checks no signature: that is the server's part.
func tokenFacts(token string) facts {
	switch {
	case strings.HasPrefix(strings.ToLower(token), "bearer "):
		return facts{problem: `it begins with the word "Bearer", which the client adds itself`}
	case token != strings.TrimSpace(token) || strings.ContainsFunc(token, isControl):
		return facts{problem: "it contains spaces, line breaks or control characters that no HTTP header may have"}
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
		return facts{problem: "it begins like an EKS token, but isn't base64"}
	}
	presigned, err := url.Parse(string(decoded))
	if err != nil {
		return facts{problem: "it begins like an EKS token, but holds no URL"}
	}
	signed, err := time.Parse(eksDate, presigned.Query().Get("X-Amz-Date"))
	if err != nil {
		return facts{problem: "it begins like an EKS token, but says no date of its signature"}
	}
	return facts{format: formatEKS, window: window{signed, signed.Add(eksLifetime)}}
}

// jwtFacts reads a token of three parts. Without a JWT's header it is an opaque one that has two dots.
func jwtFacts(token string) facts {
	parts := strings.Split(token, ".")
	header, err := jsonSegment(parts[0])
	algorithm, _ := header.text("alg")
	switch {
	case err != nil && strings.HasPrefix(token, "eyJ"): // base64 of `{"`
		return facts{problem: "it looks like a JWT, but its header can't be read"}
	case algorithm == "":
		return facts{format: formatOpaque}
	}
	c, err := jsonSegment(parts[1])
	if err != nil {
		return facts{problem: "it is a JWT, but its claims can't be read"}
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
	f.issuer, oks[0] = c.text("iss")
	f.subject, oks[1] = c.text("sub")
	f.audiences, oks[2] = c.texts("aud")
	f.window.notBefore, oks[3] = c.date("nbf")
	f.window.notAfter, oks[4] = c.date("exp")
	switch {
	case !oks[0] || !oks[1] || !oks[2]:
		return facts{problem: "it is a JWT, but its issuer, subject or audience isn't text"}
	case !oks[3] || !oks[4]:
		return facts{problem: "it is a JWT, but its dates aren't seconds since 1970"}
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
