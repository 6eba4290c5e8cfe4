package faultproxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// StartSecurely is [StartAs] for a proxy that speaks TLS and HTTP/2, as API servers do.
func StartSecurely(t testing.TB, config *rest.Config) *Proxy {
	t.Helper()
	p := newProxy(t, config)
	p.Rotate(t, true, time.Hour)
	p.server = httptest.NewUnstartedServer(p)
	p.server.EnableHTTP2 = true
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	p.server.TLS = &tls.Config{Certificates: []tls.Certificate{*p.served.Load()},
		NextProtos: []string{"h2", "http/1.1"}}
	p.server.TLS.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{Certificates: []tls.Certificate{*p.served.Load()}, NextProtos: p.server.TLS.NextProtos}, nil
	}
	p.server.StartTLS()
	t.Cleanup(p.close)
	return p
}

// Rotate gives the proxy another certificate, which new connections see. If anew is true, another authority issues it.
// The certificate is valid for a while from now on; if valid is negative, it expired that long ago. [Proxy.Client]
// trusts the current authority.
func (p *Proxy) Rotate(t testing.TB, anew bool, valid time.Duration) {
	t.Helper()
	if anew {
		p.authority = certificate(t, nil, time.Hour)
	}
	p.served.Store(certificate(t, p.authority, valid))
}

// Disconnect closes all connections of clients.
func (p *Proxy) Disconnect() { p.server.CloseClientConnections() }

// IsHTTP2 reports whether the last request came by HTTP/2.
func (p *Proxy) IsHTTP2() bool { return p.isHTTP2.Load() }

// GoAway answers as the server does, and says that the connection takes no more requests, as a server does that stops.
func GoAway() Fault {
	return spoiling("GOAWAY", func(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
		maps.Copy(w.Header(), answer.Header())
		w.Header().Set("Connection", "close")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// Cut closes the connection with all of its streams.
func (p *Proxy) Cut() Fault {
	return answering("connection cut", func(_ http.ResponseWriter, r *http.Request) {
		go p.Disconnect() // which waits for this handler
		<-r.Context().Done()
	})
}

// certificate returns a certificate for the loopback address, or of an authority if none is to issue it.
func certificate(t testing.TB, authority *tls.Certificate, valid time.Duration) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "faultproxy " + serial.String()},
		BasicConstraintsValid: true, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(valid),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	parent, signer := template, any(key)
	if authority == nil {
		template.IsCA, template.KeyUsage, template.ExtKeyUsage = true, x509.KeyUsageCertSign, nil
	} else {
		parent, signer = authority.Leaf, authority.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}
