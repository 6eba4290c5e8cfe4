package answer

import (
	"strconv"
	"strings"
	"time"
)

// Manager is a field manager as a conflict names it.
type Manager struct {
	Name, Subresource string
	// Update is true for an update and false for an apply. A server prints no version for an apply.
	Update     bool
	APIVersion string
	// Time is zero for servers since 1.22.
	Time time.Time
}

// ParseConflict reads the message of a cause that names a field manager:
//
//	conflict with "m"
//	conflict with "m" using apps/v1
//	conflict with "m" with subresource "scale" using apps/v1
//	conflict with "m" using apps/v1 at 2020-01-02T03:04:05Z
//
// A message with "using" is about an update, any other about an apply. If a message has another form, the result has
// only the name of the manager.
//
// Source: k8s.io/apimachinery, pkg/util/managedfields/internal, printManager.
func ParseConflict(message string) Manager {
	rest, ok := strings.CutPrefix(message, conflictWith)
	if !ok {
		return Manager{Name: message}
	}
	m := Manager{}
	if m.Name, rest, ok = cutQuoted(rest); !ok {
		return Manager{Name: rest}
	}
	if sub, found := strings.CutPrefix(rest, " with subresource "); found {
		if name, after, ok := cutQuoted(sub); ok {
			m.Subresource, rest = name, after
		}
	}
	if using, found := strings.CutPrefix(rest, " using "); found {
		version, at, _ := strings.Cut(using, " at ")
		m.Update, m.APIVersion = true, version
		if t, err := ParseTime(at); err == nil {
			m.Time = t
		}
	}
	return m
}

// cutQuoted cuts a Go string literal off the front of text.
func cutQuoted(text string) (value, rest string, ok bool) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", text, false
	}
	value, err = strconv.Unquote(quoted)
	return value, text[len(quoted):], err == nil
}
