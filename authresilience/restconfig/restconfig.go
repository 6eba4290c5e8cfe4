// Package restconfig answers: what does a client of client-go send to prove who it is? Package authresilience judges
// the answer, and needs no client-go for that. This package isn't for loading a configuration: it reads no file and
// starts no plugin.
//
//	config := &rest.Config{Host: "https://cluster.example", Username: "jo", Password: "secret"}
//	credential := restconfig.Credential(config)
//	fmt.Println(authresilience.Diagnose(credential, time.Now()))
//	// the user name and password: it isn't known whether the credentials expired
//
// A client passes the standard error of an exec plugin on to the file that [os.Stderr] was when the client was made.
// This output may repeat the arguments and the environment of the plugin. If the standard error of your tool goes to a
// log, set os.Stderr to a pipe before you make the client, and read and drop the output of the pipe.
package restconfig

import (
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
)

// Credential describes the credentials of a client that is made from config. For nil it returns the zero Credential.
// Later changes of config have no effect on the result.
func Credential(config *rest.Config) authresilience.Credential {
	if config == nil {
		return authresilience.Credential{}
	}
	described := authresilience.ClientConfig{
		CertData: config.CertData, CertFile: config.CertFile,
		HasKey:      len(config.KeyData) > 0 || config.KeyFile != "",
		BearerToken: config.BearerToken, BearerTokenFile: config.BearerTokenFile,
		HasPassword:     config.Username != "" || config.Password != "",
		CustomTransport: config.Transport != nil || config.WrapTransport != nil,
	}
	if config.ExecProvider != nil {
		described.ExecCommand = &config.ExecProvider.Command
	}
	if config.AuthProvider != nil {
		described.AuthProvider = &config.AuthProvider.Name
	}
	return authresilience.CredentialOf(described)
}
