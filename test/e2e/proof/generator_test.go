package proof_test

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/fieldowner"
)

//go:embed testdata/kinds.yaml
var kindsYAML []byte

// kind is what testdata/kinds.yaml says of a kind, or its definition.
type kind struct {
	Manifests []map[string]any
	Status    map[string]any
	Scale     bool
	Revised   bool
	Versions  []string
	// schema is that of the objects; nil if the manifests have to do. hasStatus reports whether others write their
	// status.
	schema    *structural
	hasStatus bool
}

func (k kind) apiVersion() string { return fmt.Sprint(k.Manifests[0]["apiVersion"]) }

// name returns the kind with its group, if it isn't one of Kubernetes' own.
func (k kind) name() string { return kindOf(k.Manifests[0]) }

func readKinds() ([]kind, error) {
	text, err := yaml.YAMLToJSON(kindsYAML)
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := utiljson.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	var kinds []kind
	for _, item := range doc["kinds"].([]any) {
		fields := item.(map[string]any)
		k := kind{}
		for _, m := range fields["manifests"].([]any) {
			k.Manifests = append(k.Manifests, m.(map[string]any))
		}
		k.Status, _ = fields["status"].(map[string]any)
		k.Scale, _ = fields["scale"].(bool)
		k.Revised, _ = fields["revised"].(bool)
		versions, _ := fields["versions"].([]any)
		for _, v := range versions {
			k.Versions = append(k.Versions, v.(string))
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// generator makes one case.
type generator struct {
	*rand.Rand
	kind  kind
	hooks map[string]any // labels that call the webhooks, on every manifest of the case
}

// generate makes the case of a number and a seed. The kinds take turns.
func generate(kinds []kind, seed, number uint64) Case {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, number)), kind: kinds[number%uint64(len(kinds))], hooks: map[string]any{}}
	for _, hook := range hooks {
		percent := 25
		if hook == policyHook {
			percent = 40 // which is about few kinds
		}
		if g.chance(percent) {
			g.hooks[hook] = "on"
		}
	}
	steps := g.steps()
	if g.kind.Scale && number < uint64(len(kinds)) { // so that every run has some
		m := g.only("spec", map[string]any{"replicas": int64(2)})
		steps = slices.Insert(steps, 1, Step{By: manager, Write: "apply", Of: "scale", Force: true, Body: m})
	}
	c := Case{Steps: g.revised(steps)}
	if g.chance(20) {
		c.Managers = g.managers()
	}
	return c
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, choices ...T) T { return choices[g.IntN(len(choices))] }

func (g *generator) steps() []Step {
	ours := g.manifest()
	steps := []Step{g.begin(ours)}
	writes := g.IntN(5)
	if g.chance(3) {
		writes = 20 // more than a server keeps apart
	}
	for range writes {
		switch n := g.IntN(100); {
		case n < 35:
			var step Step
			ours, step = g.ours(ours, 8)
			steps = append(steps, step)
		case n < 45:
			steps = append(steps, g.removal(ours), g.trial(ours))
		case n < 57:
			steps = append(steps, g.contested(ours)...)
		default:
			steps = append(steps, g.foreign(ours))
		}
	}
	_, last := g.ours(ours, 30)
	steps = append(steps, last)
	switch n := g.IntN(100); {
	case n < 10:
		steps = append(steps, Step{By: manager, Write: "delete", Policy: pick(g, "", "", "Background", "Foreground", "Orphan")})
	case n < 16:
		steps = append(steps, Step{By: manager, Write: "release"})
	}
	return steps
}

// begin is how the object comes into being.
func (g *generator) begin(ours map[string]any) Step {
	switch n := g.IntN(10); {
	case n < 5:
		return g.trial(ours)
	case n < 8:
		return Step{By: "creator", Write: "create", Body: g.manifest()}
	case n < 9:
		return Step{By: fieldowner.ClientSideApply, Write: "clientApply", Body: g.manifest()}
	default:
		return Step{By: "ann", Write: "apply", Body: g.manifest()}
	}
}

// ours returns our next manifest and the trial of it. In some percent of the cases the trial is of one that is probably
// invalid, which nothing is built upon.
func (g *generator) ours(manifest map[string]any, wild int) (map[string]any, Step) {
	if g.chance(15) {
		return manifest, g.trial(manifest)
	}
	edited := copyOf(manifest)
	for range 1 + g.IntN(3) {
		edited = g.tame(edited)
	}
	if g.chance(wild) {
		return manifest, g.trial(g.wild(edited))
	}
	return edited, g.trial(edited)
}

func (g *generator) trial(manifest map[string]any) Step {
	step := Step{By: manager, Write: "apply", Force: g.chance(75), Remember: g.chance(25), Supply: g.chance(25), Body: copyOf(manifest)}
	if len(g.kind.Versions) > 0 && g.chance(30) {
		step.Body.(map[string]any)["apiVersion"] = pick(g, append([]string{g.kind.apiVersion()}, g.kind.Versions...)...)
		step.Remember, step.InPlace = g.chance(70), g.chance(70)
	}
	switch n := g.IntN(100); {
	case n < 7:
		step.Strip = []string{pick(g, ignorable...)}
	case n < 16:
		step.Ignore = []string{pick(g, ignorable...)}
	case n < 20: // of what others may have written beside it
		step.Ignore = []string{g.patternOf(g.manifest())}
	case n < 28:
		step.Adopt = g.adoptable()
	case n < 34:
		step.GiveUp = []string{g.patternOf(manifest)}
	case n < 36:
		step.Adopt, step.GiveUp = g.adoptable(), []string{g.patternOf(manifest)}
	case n < 38:
		step.ClearBlocking = true
	case n < 60 && g.kind.Revised:
		step.LostVersions = []string{formerVersion}
	}
	return step
}

// ignorable are patterns that many kinds have something for.
var ignorable = []string{
	"spec.replicas", "metadata.annotations.*", `metadata.labels[~"*example*"]`, "spec.template.spec.containers[*].resources",
	`spec.template.spec.containers[name="helper"]`, "data.mode", "metadata.finalizers[=\"example.com/b\"]", "spec.*.tags", "spec.disks",
	"spec.ports[0]", "spec.template.spec.containers[0].args[1]", "spec.template.spec.containers[1]", "spec.beds[0].soil", "spec.rows[1]",
	"spec.selector.*", "spec.selector.matchLabels.*", "spec.podSelector.matchLabels.*", "spec.rules[*].http", "spec.nodeSelector.*",
}

// manifest makes a manifest that is probably valid, with the labels that call the webhooks.
func (g *generator) manifest() map[string]any {
	m := copyOf(pick(g, g.kind.Manifests...))
	for range g.IntN(4) {
		m = g.tame(m)
	}
	for hook, value := range g.hooks {
		m = put(m, place{"metadata", "labels", hook}, value).(map[string]any)
	}
	return m
}

// foreign returns a random write of another client, which writes objects much like ours.
func (g *generator) foreign(ours map[string]any) Step {
	switch n := g.IntN(100); {
	case n < 35:
		return Step{By: pick(g, "ann", "bob"), Write: "apply", Force: g.chance(60), Body: g.versioned(g.part(g.manifest()))}
	case n < 45:
		return Step{By: fmt.Sprintf("replacer-%d", g.IntN(20)), Write: "replace", Body: g.versioned(g.tame(g.tame(copyOf(ours))))}
	case n < 60:
		return Step{By: fmt.Sprintf("editor-%d", g.IntN(20)), Write: "edit", Body: g.versioned(g.part(g.manifest()))}
	case n < 75:
		return Step{By: pick(g, "patcher", manager), Write: "merge", Body: g.mergePatch()}
	case n < 85:
		return Step{By: "jsonpatcher", Write: "json", Body: g.jsonPatch(ours)}
	case n < 93 && g.kind.Scale:
		return g.scale()
	case n < 96 && g.kind.Status != nil:
		return g.status()
	case n < 97:
		return Step{By: "forgetter", Write: "forget"}
	case n < 98:
		return Step{By: "deleter", Write: "delete"}
	}
	return Step{By: pick(g, "ann", "bob"), Write: "apply", Force: true, Body: g.versioned(g.manifest())}
}

// removal returns a write of another client that removes a field or an item that we declare.
func (g *generator) removal(ours map[string]any) Step {
	all := slices.DeleteFunc(editable(ours), g.isNameField)
	if len(all) == 0 {
		return Step{By: "forgetter", Write: "forget"}
	}
	return Step{By: "remover", Write: "json", Body: []any{map[string]any{"op": "remove", "path": pointer(pick(g, all...))}}}
}

// status is a write of the status, of a controller or of ourselves.
func (g *generator) status() Step {
	m := g.only("status", copyOf(g.kind.Status))
	for range g.IntN(3) {
		if g.chance(50) {
			m, _ = g.edit(m, isScalar, func(_ place, v any) any { return g.changed(v) }).(map[string]any)
		} else {
			m, _ = g.dropOptional(m).(map[string]any)
		}
	}
	if g.chance(50) {
		return Step{By: "controller", Write: pick(g, "merge", "apply"), Of: "status", Force: true, Body: m}
	}
	return g.trialOf("status", m)
}

// scale is a write of the scale, of an autoscaler or of ourselves.
func (g *generator) scale() Step {
	m := g.only("spec", map[string]any{"replicas": int64(g.IntN(5))})
	if g.chance(25) {
		return Step{By: "scaler", Write: "merge", Of: "scale", Body: map[string]any{"spec": m["spec"]}}
	}
	return g.trialOf("scale", m)
}

// only is a manifest of one field.
func (g *generator) only(field string, v any) map[string]any {
	return map[string]any{"apiVersion": g.kind.Manifests[0]["apiVersion"], "kind": g.kind.Manifests[0]["kind"], field: v}
}

// trialOf is a trial of what is applied to a subresource.
func (g *generator) trialOf(subresource string, m map[string]any) Step {
	return Step{By: manager, Write: "apply", Of: subresource, Force: g.chance(60), Remember: g.chance(40), Supply: g.chance(25), Body: m}
}

// versioned is the manifest in one of the versions that the kind has.
func (g *generator) versioned(m map[string]any) map[string]any {
	if len(g.kind.Versions) > 0 && g.chance(30) {
		m["apiVersion"] = pick(g, g.kind.Versions...)
	}
	if g.kind.Revised && g.chance(40) {
		m["apiVersion"] = formerVersion
	}
	return m
}

// part keeps a few places of a manifest, and of list items on the way what names them.
func (g *generator) part(m map[string]any) map[string]any {
	var out any = map[string]any{"apiVersion": m["apiVersion"], "kind": m["kind"]}
	all := editable(m)
	for range 1 + g.IntN(3) {
		if len(all) == 0 {
			break
		}
		out = g.graft(out, m, pick(g, all...))
	}
	return out.(map[string]any)
}

// mergePatch is a part of a manifest, now and then with nulls.
func (g *generator) mergePatch() map[string]any {
	patch := g.part(g.manifest())
	delete(patch, "apiVersion")
	delete(patch, "kind")
	if all := editable(patch); g.chance(30) && len(all) > 0 {
		return put(patch, pick(g, all...), nil).(map[string]any)
	}
	return patch
}

// jsonPatch changes a few places of an object that is about like m.
func (g *generator) jsonPatch(m map[string]any) []any {
	patch := []any{map[string]any{"op": "add", "path": "/metadata/annotations", "value": map[string]any{"patched": pick(g, "a", "b")}}}
	if all := editable(m); len(all) > 0 && g.chance(80) {
		at := pick(g, all...)
		v, _ := lookup(m, at)
		op := map[string]any{"op": pick(g, "add", "replace", "remove"), "path": pointer(at)}
		if op["op"] != "remove" {
			op["value"] = g.changed(v)
		}
		patch = append(patch[:g.IntN(2)], op)
	}
	return patch
}
