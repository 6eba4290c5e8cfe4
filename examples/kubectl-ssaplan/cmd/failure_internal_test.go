package cmd

import (
	"errors"
	"io"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/authresilience"
)

// A failure of the connection says which server it was, and quotes no credentials of an address.
func TestClusterFailuresQuoteNoCredentials(t *testing.T) {
	for _, inner := range []error{io.EOF, errors.New(`failed to parse Location header "http://a b:c4n4ry@%zz/?q=c4n4ry": parse`)} {
		for _, address := range []string{"https://u:c4n4ry@h/?tok=c4n4ry", "HTTPS://h/#c4n4ry", "h?c4n4ry"} {
			err := error(&url.Error{Op: "Get", URL: address, Err: inner})
			for _, err := range []error{err, authresilience.Redact(err)} {
				message := clusterFailure(address, err, 0).Message
				assert.NotContains(t, message, "c4n4ry")
				assert.Contains(t, message, "cluster "+authresilience.RedactAddress(address).String())
			}
		}
	}
}
