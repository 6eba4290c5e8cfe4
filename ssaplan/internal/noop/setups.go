package noop

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/ssaplan/primitives/ssaplan/internal/recent"
)

// setups has the configuration of a server for each kind. The key is a digest of the apiVersion and kind.
type setups map[recent.Key]setup

// setup is the fingerprint of a [Configuration], and the time since which it is known.
type setup struct {
	print [3]string
	since time.Time
}

// fileSetup is a setup as it is written. The prints are bytes, since they needn't be valid UTF-8.
type fileSetup struct {
	Kind   []byte    `json:"k"`
	Prints [3][]byte `json:"p"`
	Since  time.Time `json:"since"`
}

// MarshalJSON writes a list of [fileSetup].
func (s setups) MarshalJSON() ([]byte, error) {
	list := []fileSetup{}
	for kind, seen := range s {
		list = append(list, fileSetup{kind[:],
			[3][]byte{[]byte(seen.print[0]), []byte(seen.print[1]), []byte(seen.print[2])}, seen.since})
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads it.
func (s *setups) UnmarshalJSON(text []byte) error {
	var list []fileSetup
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*s = setups{}
	for _, f := range list {
		if len(f.Kind) != len(recent.Key{}) {
			return errDamaged
		}
		print := [3]string{string(f.Prints[0]), string(f.Prints[1]), string(f.Prints[2])}
		(*s)[recent.Key(f.Kind)] = setup{print, f.Since}
	}
	return nil
}

var errDamaged = errors.New("the remembered no-ops are damaged")
