package authresilience

import (
	"crypto/x509"
	"encoding/pem"
)

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
			return facts{problem: "one of its certificates can't be parsed"}
		}
		w := window{cert.NotBefore.UTC(), cert.NotAfter.UTC()}
		if f.format == "" {
			f = facts{format: formatCertificate, window: w, subject: cert.Subject.CommonName, issuer: cert.Issuer.CommonName}
			continue
		}
		f.chain = f.chain.narrow(w)
	}
	if f.format == "" {
		return facts{problem: "there is no certificate in it (PEM)"}
	}
	return f
}
