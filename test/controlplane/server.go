package controlplane

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Options says how to start a server. The zero value works.
type Options struct {
	// Version is a Kubernetes minor version such as "1.36". The default is that of [Build].
	Version string

	// APIServerArgs are flags of kube-apiserver, such as "--feature-gates=WatchList=false". They are added to those
	// that envtest sets, which choose RBAC and disable the ServiceAccount admission plugin; a flag without a value,
	// such as "--disable-admission-plugins=", takes back what envtest sets. The default is none.
	APIServerArgs []string

	// LogFile is where the servers log to. The default is a file that is removed with the server; if the server doesn't
	// start, the last lines are part of the error.
	LogFile string
}

// A Server is a running control plane. Its methods may be used by several goroutines at once.
type Server struct {
	bin       string
	state     string
	authority *authority
	token     string // of the administrator
	answer    answer
	process   *process
	admin     *rest.Config
}

// Start builds the binaries if necessary, starts a server and waits until it answers. The server runs until
// [Server.Stop] or the end of this process, in whatever way it ends; ctx limits the start only.
func Start(ctx context.Context, opts Options) (_ *Server, err error) {
	s := &Server{}
	if s.bin, err = Build(ctx, opts.Version); err != nil {
		return nil, err
	}
	if s.state, err = os.MkdirTemp("", "controlplane-"); err != nil {
		return nil, fmt.Errorf("controlplane: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if err := s.writeCredentials(); err != nil {
		return nil, err
	}
	if err := s.launch(ctx, opts); err != nil {
		return nil, err
	}
	s.admin = &rest.Config{
		Host: s.answer.Host, TLSClientConfig: rest.TLSClientConfig{CAData: s.answer.CA}, BearerToken: s.token, QPS: -1,
	}
	if err := s.writeKubeconfig(); err != nil {
		return nil, err
	}
	return s, nil
}

// Stop stops the server and removes its files. Further calls do nothing.
func (s *Server) Stop() error {
	var err error
	if s.process != nil {
		err = s.process.stop()
	}
	if err := errors.Join(err, os.RemoveAll(s.state)); err != nil {
		return fmt.Errorf("controlplane: stopping the server: %w", err)
	}
	return nil
}

// Restart stops kube-apiserver and starts it again, with the same address, certificates and data. It returns when the
// server answers.
func (s *Server) Restart(ctx context.Context) error {
	return s.again(ctx, "restart")
}

// Crash kills kube-apiserver, whose clients get no answers to the requests that it has, and starts it again as
// [Server.Restart] does. What it had sent to etcd is written.
func (s *Server) Crash(ctx context.Context) error {
	return s.again(ctx, "crash")
}

// Backup stops the server and copies the data of its etcd to a folder that isn't there yet. It returns when the server
// answers again.
func (s *Server) Backup(ctx context.Context, folder string) error {
	return s.again(ctx, "backup "+folder)
}

// Restore stops the server and gives its etcd the data of a [Server.Backup], so that everything is as it was then, and
// goes on from there. It returns when the server answers again.
func (s *Server) Restore(ctx context.Context, folder string) error {
	return s.again(ctx, "restore "+folder)
}

func (s *Server) again(ctx context.Context, command string) error {
	if err := s.process.command(ctx, command); err != nil {
		return fmt.Errorf("controlplane: %s of the server: %w", command, err)
	}
	return nil
}

// Version returns the version that the server reports, such as "v1.36.3".
func (s *Server) Version() string { return s.answer.Version }

// Bin returns the path of one of the binaries that [Build] made, such as kubectl.
func (s *Server) Bin(name string) string { return filepath.Join(s.bin, name) }

// Kubeconfig returns the path of a kubeconfig file for an administrator.
func (s *Server) Kubeconfig() string { return filepath.Join(s.state, "kubeconfig") }

// Config returns the configuration of an administrator's client, without a limit on its requests. The caller may
// change it.
func (s *Server) Config() *rest.Config { return rest.CopyConfig(s.admin) }

// ConfigFor returns the configuration of a client that the server knows as the given user in the given groups. The user
// needs no registration and has no rights before RBAC objects grant some.
func (s *Server) ConfigFor(user string, groups ...string) (*rest.Config, error) {
	now := time.Now()
	cert, key, err := s.ClientCert(user, groups, now.Add(-time.Hour), now.AddDate(1, 0, 0))
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            s.answer.Host,
		TLSClientConfig: rest.TLSClientConfig{CAData: s.answer.CA, CertData: cert, KeyData: key},
		QPS:             -1,
	}, nil
}

// ClientCert returns a client certificate and its key, in PEM form, that authenticate as the given user in the given
// groups from notBefore to notAfter. Neither needs to be in the future or in the past.
func (s *Server) ClientCert(user string, groups []string, notBefore, notAfter time.Time) (cert, key []byte, err error) {
	return s.authority.issue(user, groups, notBefore, notAfter)
}

// writeCredentials writes the files that the launcher wants: whom the server is to believe, and who the launcher is.
func (s *Server) writeCredentials() (err error) {
	if s.authority, err = newAuthority(); err != nil {
		return err
	}
	admin, err := s.ConfigFor("launcher", "system:masters")
	if err != nil {
		return err
	}
	// The server verifies a client certificate at each request, which takes a tenth of the server's time. A token is
	// only looked up.
	s.token = rand.Text()
	files := map[string][]byte{
		"ca.crt": s.authority.certPEM(), "admin.crt": admin.CertData, "admin.key": admin.KeyData,
		"tokens.csv": []byte(s.token + ",admin,admin,system:masters\n"),
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(s.state, name), content, 0o600); err != nil {
			return fmt.Errorf("controlplane: %w", err)
		}
	}
	return nil
}

func (s *Server) launch(ctx context.Context, opts Options) error {
	launcher, err := buildLauncher(ctx)
	if err != nil {
		return err
	}
	log, err := os.Create(cmp.Or(opts.LogFile, filepath.Join(s.state, "server.log")))
	if err != nil {
		return fmt.Errorf("controlplane: %w", err)
	}
	defer log.Close() // the launcher has its own descriptor

	cmd := exec.Command(launcher, append([]string{"-bin", s.bin, "-state", s.state, "--"}, opts.APIServerArgs...)...)
	cmd.Stderr = log
	if s.process, s.answer, err = launch(ctx, cmd); err != nil {
		return fmt.Errorf("controlplane: the server didn't start: %w\n%s", err, tailOf(log))
	}
	return nil
}

func (s *Server) writeKubeconfig() error {
	config := api.NewConfig()
	config.Clusters["controlplane"] = &api.Cluster{Server: s.admin.Host, CertificateAuthorityData: s.admin.CAData}
	config.AuthInfos["admin"] = &api.AuthInfo{Token: s.token}
	config.Contexts["controlplane"] = &api.Context{Cluster: "controlplane", AuthInfo: "admin"}
	config.CurrentContext = "controlplane"
	if err := clientcmd.WriteToFile(*config, s.Kubeconfig()); err != nil {
		return fmt.Errorf("controlplane: kubeconfig: %w", err)
	}
	return nil
}
