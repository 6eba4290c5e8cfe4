package authresilience

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ssaplan/primitives/internal/answer"
)

// Stale marks a state that a read could not refresh. A caller stores it next to the state, as JSON, and removes it
// after the next read that succeeds. A marked state must not be compared with a manifest as if it were the object in
// the cluster. The zero value means that the state isn't stale; it is written as null.
type Stale struct {
	Reason Class     // why the read failed
	Time   time.Time // when it failed
}

// staleVersion is the version of the JSON form. It grows when a release could misread what another one wrote.
const staleVersion = 1

type staleJSON struct {
	Version int       `json:"version"`
	Reason  Class     `json:"reason"`
	Time    time.Time `json:"time"`
}

// IsZero reports whether nothing is marked.
func (s Stale) IsZero() bool { return s.Reason == "" && s.Time.IsZero() }

// String says since when the state is stale, and why. It is empty for the zero value.
func (s Stale) String() string {
	if s.IsZero() {
		return ""
	}
	return fmt.Sprintf("stale since %s (%s)", s.Time.UTC().Format(time.RFC3339), s.Reason)
}

// MarshalJSON implements [json.Marshaler]. A mark that UnmarshalJSON would reject is an error.
func (s Stale) MarshalJSON() ([]byte, error) {
	if s.IsZero() {
		return []byte("null"), nil
	}
	s, err := s.checked()
	if err != nil {
		return nil, err
	}
	return json.Marshal(staleJSON{staleVersion, s.Reason, s.Time})
}

// UnmarshalJSON implements [json.Unmarshaler]. A mark in another version of the JSON form is an error, and so is a mark
// with an unknown reason: a guess could make a caller trust a stale state.
func (s *Stale) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*s = Stale{}
		return nil
	}
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return fmt.Errorf("authresilience: stale mark: %w", err)
	}
	switch {
	case version.Version > staleVersion:
		return fmt.Errorf(
			"authresilience: stale mark of version %d, while this release knows none above %d: upgrade it",
			version.Version, staleVersion)
	case version.Version != staleVersion:
		return fmt.Errorf("authresilience: stale mark of version %d, which never existed", version.Version)
	}
	var mark staleJSON
	if err := json.Unmarshal(data, &mark); err != nil {
		return fmt.Errorf("authresilience: stale mark: %w", err)
	}
	read, err := Stale{mark.Reason, mark.Time}.checked()
	if err != nil {
		return err
	}
	*s = read
	return nil
}

// checked is the mark with its time in UTC. What [Degrade] never returns is an error.
func (s Stale) checked() (Stale, error) {
	at, err := answer.UTC(s.Time)
	if err != nil || !(ReadAttempt{Remembered: true, KeepUnreachable: true}).keeps(s.Reason) || at.IsZero() {
		return Stale{}, fmt.Errorf("authresilience: stale mark with reason %q and time %s", s.Reason,
			s.Time.Format(time.RFC3339))
	}
	return Stale{s.Reason, at}, nil
}
