package proof_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/fieldowner"
)

// manager is the field manager under test.
const manager = "proof"

// Case is what happens to one object, from before it exists.
type Case struct {
	// Why says what the case is about; of one that was found, where plan and apply disagreed.
	Why string `json:"why,omitempty"`
	// Outcomes are what its trials come to, if the case is there to show that.
	Outcomes []string `json:"outcomes,omitempty"`
	// Open says why plan and apply still disagree here. The case then has to disagree, so that the list stays true.
	Open string `json:"open,omitempty"`
	// Managers are the names under which managers write that the steps call otherwise.
	Managers map[string]string `json:"managers,omitempty"`
	Steps    []Step            `json:"steps"`
}

// Step is one write.
type Step struct {
	// By is the field manager.
	By string `json:"by"`
	// Write is apply, clientApply (what kubectl apply does), create, replace (PUT of the body), edit (PUT of the live
	// object with the body merged into it), merge (JSON merge patch), json (JSON patch), forget (which clears
	// managedFields), define (which changes the definition of the kind), release (which gives all fields up), await
	// (which waits until the object has the body) or delete.
	Write string `json:"write"`
	// Of is a subresource.
	Of string `json:"of,omitempty"`
	// Policy is by which a trial of a delete has dependents deleted.
	Policy string `json:"policy,omitempty"`
	Force  bool   `json:"force,omitempty"`
	// Remember and Supply say how a trial is planned: with the state of the last apply, with the live object.
	Remember bool `json:"remember,omitempty"`
	Supply   bool `json:"supply,omitempty"`
	// InPlace says that a trial may update an object that is remembered in another version of its group.
	InPlace bool `json:"inPlace,omitempty"`
	// Ignore and Strip are patterns of fields that a trial leaves to others, and never sends.
	Ignore []string `json:"ignore,omitempty"`
	Strip  []string `json:"strip,omitempty"`
	// Adopt are managers from whom a trial takes over what they have, and GiveUp patterns of fields that it no longer
	// owns.
	Adopt  []string `json:"adopt,omitempty"`
	GiveUp []string `json:"giveUp,omitempty"`
	// Clear are patterns of fields that a trial removes, no matter who owns them. ClearBlocking removes those that are
	// in the way of it.
	Clear         []string `json:"clear,omitempty"`
	ClearBlocking bool     `json:"clearBlocking,omitempty"`
	// LostVersions are versions whose records a trial moves to the one of its manifest.
	LostVersions []string `json:"lostVersions,omitempty"`
	// Body is a manifest without a name, or a patch.
	Body any `json:"body,omitempty"`
}

// isTrial reports whether the step is planned and compared.
func (s Step) isTrial() bool {
	return s.By == manager && slices.Contains([]string{"apply", "delete", "release"}, s.Write)
}

// handsOver reports whether fields are to change owners before a trial's manifest is applied.
func (s Step) handsOver() bool { return len(s.Adopt)+len(s.GiveUp)+len(s.LostVersions) > 0 }

// clears reports whether a trial removes fields of others.
func (s Step) clears() bool { return len(s.Clear) > 0 || s.ClearBlocking }

// applier is who applies what the step says.
func (s Step) applier() fieldowner.Applier {
	return fieldowner.Applier{Manager: s.By, Subresource: s.Of}
}

func (s Step) subresources() []string {
	if s.Of == "" {
		return nil
	}
	return []string{s.Of}
}

// UnmarshalJSON keeps integers exact.
func (s *Step) UnmarshalJSON(data []byte) error {
	type plain Step
	if err := json.Unmarshal(data, (*plain)(s)); err != nil {
		return err
	}
	var raw map[string]any
	if err := utiljson.Unmarshal(data, &raw); err != nil {
		return err
	}
	s.Body = raw["body"]
	return nil
}

// kind returns the kind of the case's object, as the first manifest says it.
func (c Case) kind() string {
	for _, s := range c.Steps {
		if body, ok := s.Body.(map[string]any); ok && body["kind"] != nil {
			return kindOf(body)
		}
	}
	return ""
}

// kindOf returns the kind of a manifest, with its group if that isn't one of Kubernetes' own nor of the proof's.
func kindOf(manifest map[string]any) string {
	kind, apiVersion := fmt.Sprint(manifest["kind"]), fmt.Sprint(manifest["apiVersion"])
	group, _, _ := strings.Cut(apiVersion, "/")
	if strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") && !strings.HasSuffix(group, "proof.example.com") {
		return kind + "." + group
	}
	return kind
}

func (c Case) clone() Case {
	steps := make([]Step, len(c.Steps))
	for i, s := range c.Steps {
		s.Body = copyOf(s.Body)
		steps[i] = s
	}
	c.Steps = steps
	return c
}

const (
	casesFolder = "testdata/cases"
	foundFolder = "../../../.cache/proof" // of cases that the repository doesn't keep
)

// keptCases returns the cases in testdata/cases by the names of their files.
func keptCases() (map[string]Case, error) {
	files, err := filepath.Glob(casesFolder + "/*.yaml")
	if err != nil {
		return nil, err
	}
	kept := map[string]Case{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var c Case
		if err := yaml.UnmarshalStrict(text, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		kept[strings.TrimSuffix(filepath.Base(file), ".yaml")] = c
	}
	return kept, nil
}

// keep writes the case to a folder.
func (c Case) keep(folder, name string) error {
	text, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name+".yaml"), text, 0o644)
}
