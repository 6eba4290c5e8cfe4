// Launcher starts etcd and kube-apiserver with envtest, and stops them when its standard input ends. A process that
// holds the other end of that pipe can therefore die in any way and leaves no servers behind. For each line "restart"
// that it writes to the pipe, kube-apiserver is stopped and started again; for each line "crash" it is killed and
// started again. For a line "backup" with a folder behind it both are stopped and started, and in between etcd's data
// is copied to that folder, which mustn't be there; for "restore", the data is replaced by what is in the folder.
//
// It is a module and a program of its own so that envtest's dependencies stay out of everybody else's go.mod.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// running is what the launcher writes to standard output, as one line of JSON, once the server answers.
type running struct {
	Host    string
	CA      []byte
	Version string
}

func main() {
	bin := flag.String("bin", "", "folder with the binaries kube-apiserver and etcd")
	state := flag.String("state", "", "folder with ca.crt, admin.crt, admin.key and tokens.csv, removed at the end")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(),
			"usage: launcher -bin DIR -state DIR [-- --kube-apiserver-flag=value ...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(*bin, *state, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "launcher:", err)
		os.Exit(1)
	}
}

func run(bin, state string, args []string) (err error) {
	log.SetLogger(logr.Discard())
	// The launcher has to stop the servers even if the reader of their log has exited. A write to the log must not end
	// it.
	signal.Ignore(syscall.SIGPIPE)
	commands, end := make(chan string), endBySignal()
	go readLines(commands, end)

	defer func() { err = errors.Join(err, os.RemoveAll(state)) }()
	env, err := environment(bin, state, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.Stop()) }()
	config, err := start(env)
	if err != nil {
		return err
	}
	if err := announce(config); err != nil {
		return err
	}
	for {
		select {
		case <-end:
			return nil
		case command := <-commands:
			if err := errors.Join(again(&env.ControlPlane, command), announce(config)); err != nil {
				return err
			}
		}
	}
}

// start starts the servers. envtest waits five seconds for the default namespace, which isn't long on a machine with
// other things to do.
func start(env *envtest.Environment) (*rest.Config, error) {
	config, err := env.Start()
	if err == nil || env.Config == nil {
		return config, err
	}
	client, err := discovery.NewDiscoveryClientForConfig(env.Config)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(50 * time.Millisecond) {
		err := client.RESTClient().Get().AbsPath("/api/v1/namespaces/default").Do(context.Background()).Error()
		if err == nil || time.Now().After(deadline) {
			return env.Config, err
		}
	}
}

// again stops the servers that a command is about and starts them again.
func again(plane *envtest.ControlPlane, command string) error {
	command, folder, _ := strings.Cut(command, " ")
	server, etcd := plane.APIServer, plane.Etcd
	switch command {
	case "backup":
		return errors.Join(server.Stop(), etcd.Stop(), os.CopyFS(folder, os.DirFS(etcd.DataDir)), etcd.Start(),
			server.Start())
	case "restore":
		return errors.Join(server.Stop(), etcd.Stop(),
			os.RemoveAll(etcd.DataDir), os.CopyFS(etcd.DataDir, os.DirFS(folder)), etcd.Start(), server.Start())
	}
	return errors.Join(stop(server, command), server.Start())
}

// stop ends kube-apiserver in the way that the command wants.
func stop(server *envtest.APIServer, command string) error {
	switch command {
	case "restart":
		return server.Stop()
	case "crash":
		if err := kill(server.Path + pidSuffix); err != nil {
			return err
		}
		// The killed process may have exited before Stop signals it. Stop also waits until it has exited.
		if err := server.Stop(); !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return nil
	}
	return fmt.Errorf("unknown command %q: only restart, crash, backup and restore", command)
}

// kill kills the process whose id is in a file, without a chance to finish what it does.
func kill(pidFile string) error {
	content, err := os.ReadFile(pidFile)
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return fmt.Errorf("%s: %w", pidFile, err)
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

const (
	// startTimeout and stopTimeout are for a machine on which several servers start or stop at once, and others work.
	// The latter is less than the minute that a server would wait for its watches.
	startTimeout = 5 * time.Minute
	stopTimeout  = 40 * time.Second

	// withPID is a script that starts kube-apiserver and writes its process id to a file. envtest doesn't expose the
	// id.
	withPID = "#!/bin/sh\necho $$ >\"$0" + pidSuffix + "\"\nexec \"$KUBE_APISERVER\" \"$@\"\n"

	pidSuffix = ".pid"
)

// writeStart writes withPID to a file and has envtest start that.
func writeStart(bin, state string) error {
	start := filepath.Join(state, "kube-apiserver")
	return errors.Join(
		os.WriteFile(start, []byte(withPID), 0o700),
		os.Setenv("KUBE_APISERVER", filepath.Join(bin, "kube-apiserver")),
		os.Setenv("TEST_ASSET_KUBE_APISERVER", start), // this is where envtest looks first
	)
}

// environment describes the control plane. args are flags of kube-apiserver, added to those that envtest sets.
func environment(bin, state string, args []string) (*envtest.Environment, error) {
	// Everything that envtest writes goes below the one folder that is removed at the end. The servers live for a few
	// minutes: they collect garbage a third as often, since tests wait for processors and not for memory.
	if err := errors.Join(os.Setenv("TMPDIR", state), os.Setenv("GOGC", "300")); err != nil {
		return nil, err
	}
	// Folders of our own, so that the certificates and the data are there after a restart.
	server := &envtest.APIServer{Out: os.Stderr, Err: os.Stderr, CertDir: filepath.Join(state, "serving")}
	etcd := &envtest.Etcd{Out: os.Stderr, Err: os.Stderr, DataDir: filepath.Join(state, "etcd")}
	if err := errors.Join(os.Mkdir(server.CertDir, 0o700), os.Mkdir(etcd.DataDir, 0o700)); err != nil {
		return nil, err
	}
	if err := writeStart(bin, state); err != nil {
		return nil, err
	}
	server.SecureServing.Authn = credentials{state}
	// Without a grace period for watches, a server waits at its end until every client closes its watches.
	server.Configure().Append("shutdown-watch-termination-grace-period", "1s")
	for _, arg := range args {
		name, value, ok := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !ok {
			return nil, fmt.Errorf("%q is not of the form --flag=value", arg)
		}
		if value == "" {
			server.Configure().Disable(name)
			continue
		}
		server.Configure().Append(name, value)
	}
	existing := false // whatever envtest's environment variable says
	return &envtest.Environment{
		BinaryAssetsDirectory:    bin,
		UseExistingCluster:       &existing,
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  stopTimeout,
		ControlPlane: envtest.ControlPlane{
			APIServer: server,
			Etcd:      etcd,
		},
	}, nil
}

func announce(config *rest.Config) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	version, err := client.ServerVersion()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(running{config.Host, config.CAData, version.GitVersion})
}

func endBySignal() chan os.Signal {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGINT, syscall.SIGTERM)
	return end
}

// readLines passes on each line of standard input, and asks for the end when that ends in whatever way.
func readLines(commands chan<- string, end chan<- os.Signal) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		commands <- lines.Text()
	}
	end <- syscall.SIGTERM
}

// credentials makes the server accept the client certificates and tokens of the program that started the launcher.
type credentials struct{ dir string }

func (c credentials) Configure(_ string, args *envtest.Arguments) error {
	args.Set("client-ca-file", filepath.Join(c.dir, "ca.crt"))
	args.Set("token-auth-file", filepath.Join(c.dir, "tokens.csv"))
	return nil
}

// AddUser is asked for envtest's own users only, and they all are administrators.
func (c credentials) AddUser(_ envtest.User, base *rest.Config) (*rest.Config, error) {
	config := rest.CopyConfig(base)
	config.CertFile = filepath.Join(c.dir, "admin.crt")
	config.KeyFile = filepath.Join(c.dir, "admin.key")
	return config, nil
}

func (credentials) Start() error { return nil }
func (credentials) Stop() error  { return nil }
