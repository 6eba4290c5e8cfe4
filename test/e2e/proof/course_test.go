package proof_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

const coursesFile = "testdata/objects.yaml"

// course is what happens to an object of one kind and version.
type course struct {
	apiVersion string
	number     int // no other course has it
	span       span
	// base is the object that is created.
	base map[string]any
	// edit is what another manager applies by force, change what can't be changed; nil if nothing is immutable.
	edit, change map[string]any
	// drop is the path of a field that base has and that is dropped, besides a label; empty if there is none.
	drop string
	// awaits is what the server itself writes into a new object some time after it was made.
	awaits map[string]any
	// outcomes are those of stages, by name, that have another one than usual.
	outcomes map[string]string
}

// span are the minor versions of Kubernetes that serve something, such as "1.36". The empty string is no limit.
type span struct{ Since, Until string }

func (s span) has(minor int) bool {
	since, _ := parseMinor(s.Since)
	until, err := parseMinor(s.Until)
	return minor >= since && (err != nil || minor <= until)
}

// parseMinor returns the minor version, such as 36, of a version such as "1.36.3".
func parseMinor(version string) (int, error) {
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return 0, fmt.Errorf("%q is no version", version)
	}
	return strconv.Atoi(parts[1])
}

func (c course) kind() string        { return fmt.Sprint(c.base["kind"]) }
func (c course) kindVersion() string { return c.apiVersion + " " + c.kind() }

// title names the course in the output of tests.
func (c course) title() string {
	return fmt.Sprintf("%s %s %d", c.kind(), strings.ReplaceAll(c.apiVersion, "/", "."), c.number)
}

// name returns the object's name, which no object of another course has.
func (c course) name() string {
	if name, exists := lookup(c.base, place{"metadata", "name"}); exists {
		return fmt.Sprint(name)
	}
	return fmt.Sprintf("course-%d", c.number)
}

// tree is a part of an object. Integers in it are int64, as in objects.
type tree map[string]any

func (t *tree) UnmarshalJSON(data []byte) error {
	return utiljson.Unmarshal(data, (*map[string]any)(t))
}

// entry is an item of the file: the courses of a kind in one or more versions.
type entry struct {
	Versions map[string]span   `json:"versions"`
	Object   tree              `json:"object"`
	Edit     tree              `json:"edit"`
	Drop     string            `json:"drop"`
	Change   tree              `json:"change"`
	Awaits   tree              `json:"awaits"`
	Outcomes map[string]string `json:"outcomes"`
}

// readCourses returns the courses of the file in a fixed order.
func readCourses() ([]course, error) {
	text, err := os.ReadFile(coursesFile)
	if err != nil {
		return nil, err
	}
	var entries []entry
	if err := yaml.UnmarshalStrict(text, &entries); err != nil {
		return nil, fmt.Errorf("%s: %w", coursesFile, err)
	}
	var courses []course
	for _, e := range entries {
		for _, version := range slices.Sorted(maps.Keys(e.Versions)) {
			courses = append(courses, e.course(version, len(courses)+1))
		}
	}
	return courses, nil
}

// course returns the course of one version.
func (e entry) course(apiVersion string, number int) course {
	numbered := func(t tree) map[string]any {
		m, _ := withNumber(copyOf(map[string]any(t)), strconv.Itoa(number)).(map[string]any)
		return m
	}
	c := course{apiVersion: apiVersion, number: number, span: e.Versions[apiVersion], base: numbered(e.Object),
		edit: numbered(e.Edit), drop: e.Drop, change: numbered(e.Change), awaits: numbered(e.Awaits), outcomes: e.Outcomes}
	c.base["apiVersion"] = apiVersion
	return c
}

// withNumber puts a course's number in the place of $n in all texts of v, for names that no other object may have.
func withNumber(v any, number string) any {
	switch v := v.(type) {
	case map[string]any:
		for name, field := range v {
			v[name] = withNumber(field, number)
		}
	case []any:
		for i, item := range v {
			v[i] = withNumber(item, number)
		}
	case string:
		return strings.ReplaceAll(v, "$n", number)
	}
	return v
}

// stage is a step of a course.
type stage struct {
	Step
	name    string
	outcome string // that the trial has to have
}

// stages returns the steps of the course.
func (c course) stages() ([]stage, error) {
	labelled := with(c.base, labels("ours"))
	dropped, err := c.dropped()
	if err != nil {
		return nil, err
	}
	edit := c.edit
	if edit == nil {
		edit = labels("theirs")
	}
	theirs := with(map[string]any{"apiVersion": c.apiVersion, "kind": c.kind()}, edit)
	await := stage{Step: Step{Write: "await", Body: copyOf(c.awaits)}}
	stages := []stage{
		planned("create", c.base, ssaplan.ActionCreate),
		await,
		planned("no-op", c.base, ssaplan.ActionNoOp),
		planned("label", labelled, ssaplan.ActionUpdate),
		{Step: Step{By: "rival", Write: "apply", Force: true, Body: theirs}},
		planned("conflict", labelled, ssaplan.ActionConflict),
		planned("take over", labelled, ssaplan.ActionUpdate),
		planned("drop", dropped, ssaplan.ActionUpdate),
	}
	if c.change != nil {
		changed := with(dropped, c.change)
		stages = append(stages,
			planned("immutable", changed, ssaplan.ActionReplace),
			await,
			planned("afterwards", changed, ssaplan.ActionNoOp))
	}
	stages = append(stages, stage{Step: Step{By: manager, Write: "delete"}, name: "delete", outcome: "Deletion Delete"})
	if c.awaits == nil {
		stages = slices.DeleteFunc(stages, func(s stage) bool { return s.Write == "await" })
	}
	for name, outcome := range c.outcomes {
		i := slices.IndexFunc(stages, func(s stage) bool { return s.name == name })
		if i < 0 || stages[i].outcome == outcome {
			return nil, fmt.Errorf("%s: %q is no unusual outcome of %q", c.kindVersion(), outcome, name)
		}
		stages[i].outcome = outcome
	}
	return stages, nil
}

// planned returns an apply that is planned, for some names with the live object supplied.
func planned(name string, manifest map[string]any, action ssaplan.Action) stage {
	isSupplied := slices.Contains([]string{"label", "take over", "immutable"}, name)
	step := Step{By: manager, Write: "apply", Remember: true, Supply: isSupplied, Body: manifest}
	step.Force = action != ssaplan.ActionConflict
	return stage{Step: step, name: name, outcome: string(action)}
}

// with returns a manifest with other fields put over it; lists are replaced.
func with(manifest, over map[string]any) map[string]any {
	return merged(copyOf(manifest), copyOf(over)).(map[string]any)
}

func labels(value string) map[string]any {
	return map[string]any{"metadata": map[string]any{"labels": map[string]any{"course": value}}}
}

// dropped returns the base, which lacks the label, without the field to drop.
func (c course) dropped() (map[string]any, error) {
	manifest := copyOf(c.base)
	if c.drop == "" {
		return manifest, nil
	}
	path, err := projection.ParsePath(c.drop)
	if err != nil {
		return nil, err
	}
	at, exists := resolve(manifest, path)
	if !exists {
		return nil, fmt.Errorf("%s: there is no %s to drop", c.kindVersion(), c.drop)
	}
	return cut(manifest, at).(map[string]any), nil
}
