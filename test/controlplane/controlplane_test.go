package controlplane_test

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ssaplan/primitives/test/controlplane"
)

// TestServer takes one server through its life, from the flags that it is started with until it is stopped.
func TestServer(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "server.log")
	s := controlplane.ForTest(t, controlplane.Options{
		APIServerArgs: []string{"--runtime-config=apps/v1=false", "--disable-admission-plugins=NamespaceLifecycle"},
		LogFile:       log,
	})
	require.FileExists(t, log)
	for _, step := range []struct {
		name string
		run  func(*testing.T, *controlplane.Server)
	}{
		{"version", version}, {"admin", admin}, {"user and groups", userAndGroups}, {"certificates", certificates},
		{"token", serviceAccountToken}, {"flags", flags}, {"again", again}, {"restore", restore}, {"stop", stop},
	} {
		t.Run(step.name, func(t *testing.T) { step.run(t, s) })
	}
}

func version(t *testing.T, server *controlplane.Server) {
	want := map[string]string{"1.33": "v1.33.13", "1.36": "v1.36.3", "1.37": "v1.37.2"}[cmp.Or(os.Getenv("SSAPLAN_SERVER"), "1.37")]
	require.Equal(t, want, server.Version())

	answer, err := client(t, server.Config()).Discovery().ServerVersion()
	require.NoError(t, err)
	require.Equal(t, want, answer.GitVersion)

	output, err := exec.Command(server.Bin("kubectl"), "version", "--client").CombinedOutput()
	require.NoError(t, err, string(output))
	require.Contains(t, string(output), want)
}

func admin(t *testing.T, server *controlplane.Server) {
	fromFile, err := clientcmd.BuildConfigFromFlags("", server.Kubeconfig())
	require.NoError(t, err)
	for name, config := range map[string]*rest.Config{"config": server.Config(), "kubeconfig": fromFile} {
		configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := client(t, config).CoreV1().ConfigMaps("default").Create(t.Context(), configMap, metav1.CreateOptions{})
		require.NoError(t, err, name)
	}
}

func userAndGroups(t *testing.T, server *controlplane.Server) {
	ctx := t.Context()
	config, err := server.ConfigFor("alice", "readers")
	require.NoError(t, err)
	alice := client(t, config)

	_, err = alice.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)

	grantRead(t, server, rbacv1.Subject{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "readers"})
	// The authorizer learns about new bindings from a watch.
	require.Eventually(t, func() bool {
		_, err := alice.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		return err == nil
	}, time.Minute, 20*time.Millisecond)

	self, err := alice.AuthenticationV1().SelfSubjectReviews().
		Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "alice", self.Status.UserInfo.Username)
	require.Equal(t, []string{"readers", "system:authenticated"}, self.Status.UserInfo.Groups)
}

func certificates(t *testing.T, server *controlplane.Server) {
	now := time.Now()
	for _, test := range []struct {
		name                string
		notBefore, notAfter time.Time
		valid               bool
	}{
		{"valid", now.Add(-time.Hour), now.Add(time.Hour), true},
		{"expired", now.Add(-time.Hour), now.Add(-time.Minute), false},
		{"not yet valid", now.Add(time.Hour), now.Add(2 * time.Hour), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			cert, key, err := server.ClientCert("bob", []string{"system:masters"}, test.notBefore, test.notAfter)
			require.NoError(t, err)
			config := rest.AnonymousClientConfig(server.Config())
			config.CertData, config.KeyData = cert, key

			_, err = client(t, config).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
			require.Equal(t, test.valid, err == nil, "%v", err)
			require.Equal(t, !test.valid, apierrors.IsUnauthorized(err), "%v", err)
		})
	}
}

func serviceAccountToken(t *testing.T, server *controlplane.Server) {
	accounts := client(t, server.Config()).CoreV1().ServiceAccounts("default")
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}
	_, err := accounts.Create(t.Context(), account, metav1.CreateOptions{})
	require.NoError(t, err)
	token, err := accounts.CreateToken(t.Context(), "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)

	config := rest.AnonymousClientConfig(server.Config())
	config.BearerToken = token.Status.Token
	self, err := client(t, config).AuthenticationV1().SelfSubjectReviews().
		Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "system:serviceaccount:default:robot", self.Status.UserInfo.Username)
}

func flags(t *testing.T, server *controlplane.Server) {
	admin := client(t, server.Config())
	_, err := admin.AppsV1().Deployments("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)

	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	_, err = admin.CoreV1().ConfigMaps("nowhere").Create(t.Context(), configMap, metav1.CreateOptions{})
	require.NoError(t, err, "without NamespaceLifecycle nobody checks that the namespace exists")
}

func again(t *testing.T, s *controlplane.Server) {
	namespaces := client(t, s.Config()).CoreV1().Namespaces()
	_, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "crashed"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	for _, test := range []struct {
		again func(context.Context) error
		ends  error
		why   string
	}{
		{s.Crash, io.ErrUnexpectedEOF, "a server that is killed doesn't end its answers"},
		{s.Restart, nil, "one that has to stop does, also if it was killed before"},
	} {
		watch, err := client(t, s.Config()).CoreV1().RESTClient().Get().Resource("namespaces").Param("watch", "true").Stream(t.Context())
		require.NoError(t, err)
		require.NoError(t, test.again(t.Context()))
		_, err = io.Copy(io.Discard, watch)
		require.ErrorIs(t, err, test.ends, test.why)
		require.NoError(t, watch.Close())

		_, err = namespaces.Get(t.Context(), "crashed", metav1.GetOptions{})
		require.NoError(t, err, "the data and the certificates are the same")
	}
}

func restore(t *testing.T, s *controlplane.Server) {
	namespaces := client(t, s.Config()).CoreV1().Namespaces()
	create := func(name string) *corev1.Namespace {
		made, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		require.NoError(t, err)
		return made
	}
	kept := create("kept")
	backup := filepath.Join(t.TempDir(), "backup")
	require.NoError(t, s.Backup(t.Context(), backup))
	create("lost")
	require.NoError(t, s.Restore(t.Context(), backup))
	restored, err := namespaces.Get(t.Context(), "kept", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, kept.UID, restored.UID)
	require.Equal(t, kept.ResourceVersion, restored.ResourceVersion)
	_, err = namespaces.Get(t.Context(), "lost", metav1.GetOptions{})
	require.ErrorContains(t, err, "not found")
}

func stop(t *testing.T, server *controlplane.Server) {
	watch, err := client(t, server.Config()).CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer watch.Stop()

	require.NoError(t, server.Stop(), "the launcher gives up after 40s; an open watch must not delay the end")
	require.NoDirExists(t, filepath.Dir(server.Kubeconfig()))
	require.NoError(t, server.Stop(), "again")

	_, err = client(t, server.Config()).Discovery().ServerVersion()
	require.ErrorContains(t, err, "connection refused")
}

func TestStartFails(t *testing.T) {
	for _, test := range []struct {
		name    string
		timeout time.Duration
		args    []string
		want    []string
	}{
		{"the error has the reason from the log", 10 * time.Minute, []string{"--no-such-flag=true"}, []string{
			"controlplane: the server didn't start: exit status 1\n", "unknown flag: --no-such-flag",
		}},
		{"ctx ends while the server starts", time.Second, nil, []string{context.DeadlineExceeded.Error()}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), test.timeout)
			defer cancel()
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			_, err := controlplane.Start(ctx, controlplane.Options{APIServerArgs: test.args})
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			left, err := os.ReadDir(tmp)
			require.NoError(t, err)
			require.Empty(t, left, "a start that fails leaves no files")
		})
	}
}

func client(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return clientset
}

func grantRead(t *testing.T, server *controlplane.Server, subject rbacv1.Subject) {
	t.Helper()
	rbac := client(t, server.Config()).RbacV1()
	_, err := rbac.Roles("default").Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "read"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = rbac.RoleBindings("default").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "read"},
		Subjects:   []rbacv1.Subject{subject},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "read"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}
