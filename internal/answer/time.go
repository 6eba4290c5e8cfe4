package answer

import (
	"fmt"
	"time"
)

// ParseTime reads a time of RFC 3339, in UTC.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, err
	}
	return UTC(t)
}

// UTC returns t in UTC. It returns an error if t lies before the year 0 or after 9999 in UTC, although its own zone
// hides that, as in 0000-01-01T00:00:00+01:00. JSON can't hold such a time in UTC, so a caller could not write it
// again.
func UTC(t time.Time) (time.Time, error) {
	t = t.UTC()
	if _, err := t.MarshalText(); err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", t.Format(time.RFC3339), err)
	}
	return t, nil
}
