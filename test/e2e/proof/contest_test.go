package proof_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// contested is a write of others and a trial: it leaves to them what they wrote into what is ours, clears what they
// wrote, or declares something that may exclude it and clears what is in the way.
func (g *generator) contested(ours map[string]any) []Step {
	theirs := g.manifest()
	trial := Step{By: manager, Write: "apply", Force: g.chance(75), Remember: g.chance(25), Supply: g.chance(25), Body: copyOf(ours)}
	switch g.IntN(3) {
	case 0:
		if at := g.field(ours); at != nil {
			v, _ := lookup(ours, at)
			trial.Ignore = []string{g.patternAt(ours, at)}
			op := map[string]any{"op": "replace", "path": pointer(at), "value": g.changed(v)}
			return []Step{{By: "jsonpatcher", Write: "json", Body: []any{op}}, trial}
		}
	case 1:
		if at := g.field(theirs); at != nil {
			if trial.Clear = []string{g.patternAt(theirs, at)}; g.chance(50) {
				trial.Body = cut(trial.Body, at)
			}
			return []Step{g.claim(theirs, at), trial}
		}
	default:
		if at, donor, instead := g.alternative(theirs); at != nil {
			trial.ClearBlocking, trial.Body = true, g.graft(cut(trial.Body, at), donor, instead)
			return []Step{g.claim(theirs, at), trial}
		}
	}
	return []Step{trial}
}

// field picks a place of a manifest, nil if there is none.
func (g *generator) field(m map[string]any) place {
	all := slices.DeleteFunc(editable(m), g.isNameField)
	if len(all) == 0 {
		return nil
	}
	return pick(g, all...)
}

// claim is a write by which others take what a manifest has at a place.
func (g *generator) claim(m map[string]any, at place) Step {
	kind := map[string]any{"apiVersion": m["apiVersion"], "kind": m["kind"]}
	return Step{By: pick(g, "ann", "bob"), Write: pick(g, "apply", "edit"), Force: true, Body: g.graft(kind, m, at)}
}

// exclusive are fields of which a server takes one beside another of them in few places: sources of volumes and values,
// and actions.
var exclusive = []string{
	"emptyDir", "configMap", "secret", "projected", "hostPath", "csi", "nfs", "local", "persistentVolumeClaim",
	"value", "valueFrom", "httpGet", "tcpSocket", "exec", "grpc", "sleep", "fieldRef", "configMapKeyRef", "secretKeyRef", "resourceFieldRef",
}

// alternative picks a place in a manifest beside which a manifest of the kind has something else, one that excludes it
// if possible; nil if there is none.
func (g *generator) alternative(m map[string]any) (at place, donor map[string]any, instead place) {
	all := slices.DeleteFunc(editable(m), g.isNameField)
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	isExclusive := func(p place) bool { name, _ := p[len(p)-1].(string); return slices.Contains(exclusive, name) }
	for _, demands := range []func(place) bool{isExclusive, func(place) bool { return true }} {
		for _, at := range all {
			here, _ := lookup(m, at[:len(at)-1])
			for _, donor := range g.kind.Manifests {
				there, _ := lookup(donor, at[:len(at)-1])
				fields, _ := there.(map[string]any)
				for _, name := range slices.Sorted(maps.Keys(fields)) {
					instead := at[:len(at)-1].child(name)
					if _, isHere := lookup(here, place{name}); !isHere && demands(at) && demands(instead) && !g.isNameField(instead) {
						return at, donor, instead
					}
				}
			}
		}
	}
	return nil, nil, nil
}

// patternAt is the pattern of a place in a manifest, with items of lists by what names them.
func (g *generator) patternAt(m map[string]any, at place) string {
	var path projection.Path
	for i, step := range at {
		if name, isField := step.(string); isField {
			path = append(path, projection.Field(name))
			continue
		}
		item, _ := lookup(m, at[:i+1])
		e, err := projection.Key(g.kind.names(at[:i], item))
		if isScalar(item) {
			e, err = projection.Value(item)
		}
		if err != nil || len(e.KeyFields()) == 0 && !isScalar(item) {
			e = projection.Index(step.(int))
		}
		path = append(path, e)
	}
	return fmt.Sprint(projection.PatternOf(path))
}

// holdsWhole reports whether the trial left a part of a list or map to others that has one owner as a whole, and that
// others own as well.
func (t *trial) holdsWhole() bool {
	return slices.ContainsFunc(t.plan.Ignored, func(f explain.IgnoredField) bool {
		return f.Handling == explain.HandlingLive && len(f.Owners) > 0 && !t.plan.After.Fields.Has(f.Path)
	})
}
