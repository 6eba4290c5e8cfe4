package authresilience_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/rows"
)

func TestStaleSurvivesJSON(t *testing.T) {
	east := time.FixedZone("east", 3600)
	type state struct {
		Stale authresilience.Stale `json:"stale,omitzero"`
	}
	rows := []struct {
		why   string
		stale authresilience.Stale
		want  string
	}{
		{"nothing is marked", authresilience.Stale{}, `{}`},
		{"authentication", authresilience.Stale{Reason: authresilience.ClassAuthentication, Time: now}, `{"stale":{"version":1,"reason":"Authentication","time":"2026-08-01T12:00:00Z"}}`},
		{"another zone is the same time", authresilience.Stale{Reason: authresilience.ClassAuthorization, Time: now.In(east)}, `{"stale":{"version":1,"reason":"Authorization","time":"2026-08-01T12:00:00Z"}}`},
		{"parts of a second", authresilience.Stale{Reason: authresilience.ClassAnonymous, Time: now.Add(time.Nanosecond)}, `{"stale":{"version":1,"reason":"Anonymous","time":"2026-08-01T12:00:00.000000001Z"}}`},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			data, err := json.Marshal(state{r.stale})
			require.NoError(t, err)
			assert.JSONEq(t, r.want, string(data))
			var read state
			require.NoError(t, json.Unmarshal(data, &read))
			assert.Equal(t, r.stale.Reason, read.Stale.Reason)
			assert.True(t, r.stale.Time.Equal(read.Stale.Time))
			assert.Equal(t, r.stale.IsZero(), read.Stale.IsZero())
			assert.Equal(t, r.stale.String(), read.Stale.String())
		})
	}
}

func TestStaleRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, r := range rows.Read[struct{ Why, JSON, Want string }](t, "refused") { // Want is a part of the error
		t.Run(r.Why, func(t *testing.T) {
			before := authresilience.Stale{Reason: authresilience.ClassAnonymous, Time: now}
			read := before
			require.ErrorContains(t, json.Unmarshal([]byte(r.JSON), &read), r.Want)
			assert.Equal(t, before, read, "an error changes nothing")
		})
	}
}

func TestStaleIsNotWrittenUnreadable(t *testing.T) {
	for why, stale := range map[string]authresilience.Stale{
		"no time":                        {Reason: authresilience.ClassAuthentication},
		"no reason":                      {Time: now},
		"a reason that isn't survived":   {Reason: authresilience.ClassQuota, Time: now},
		"a time that RFC 3339 can't say": {Reason: authresilience.ClassAuthentication, Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		_, err := json.Marshal(stale)
		assert.Error(t, err, why)
	}
}

func TestStaleNullMarksNothing(t *testing.T) {
	read := authresilience.Stale{Reason: authresilience.ClassAnonymous, Time: now}
	require.NoError(t, json.Unmarshal([]byte("null"), &read))
	assert.True(t, read.IsZero())
	data, err := json.Marshal(read)
	require.NoError(t, err)
	assert.Equal(t, "null", string(data))
	assert.Empty(t, read.String())
}
