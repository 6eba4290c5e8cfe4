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

// UTC is t in UTC. It is an error if the zone has hidden that t lies before the year 0 or after 9999, such as in
// 0000-01-01T00:00:00+01:00: what JSON can say of it can't be said in UTC, so who kept it could not write it down
// again.
func UTC(t time.Time) (time.Time, error) {
	t = t.UTC()
	if _, err := t.MarshalText(); err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", t.Format(time.RFC3339), err)
	}
	return t, nil
}
