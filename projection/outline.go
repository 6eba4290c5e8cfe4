package projection

// Outline returns every field at which one of the objects has a value, as leaves, except metadata that only the server
// writes. Use it with [Project] and [Diff] to compare objects of one kind as a whole. The managedFields of all objects
// show whether a list has keys, is a set or is atomic; other lists are taken for atomic. An entry of managedFields that
// can't be read is an error.
func Outline(objects ...map[string]any) (FieldSet, error) {
	return outline(objects, objects, FieldSet{})
}

// Differing returns the paths of the [Outline] of both objects at which [Diff] may find a difference, except fields
// that belong to known. For a list that differs, all fields of its items are included, even those that belong to known.
// It is fast if the objects differ little.
func Differing(before, after map[string]any, known FieldSet) (FieldSet, error) {
	return DifferingNamed(before, after, known, FieldSet{})
}

// DifferingNamed does what [Differing] does, and takes the keys of lists from the parameter names. After a CRD has
// changed the keys of a list, managedFields still have the old ones; see [FieldSet.Renamed].
func DifferingNamed(before, after map[string]any, known, names FieldSet) (FieldSet, error) {
	b, a := apart(before, after, known.Union(serverMetadata).root)
	if len(b) == 0 && len(a) == 0 {
		return FieldSet{}, nil
	}
	return outline([]map[string]any{before, after}, []map[string]any{b, a}, names)
}

// outline returns the leaves of parts of the objects, given what the managedFields of the objects reveal. Of a list
// that known has items of, it has the keys: a record may still have those of an older definition.
func outline(objects, parts []map[string]any, known FieldSet) (FieldSet, error) {
	schema := LearnedSchema{known: known.root}
	schema.learnMetadata()
	for _, obj := range objects {
		if err := schema.learn(obj); err != nil {
			return FieldSet{}, err
		}
	}
	var all FieldSet
	for _, part := range parts {
		fields, err := (&declarer{guess: true}).object(part, &schema.root)
		if err != nil {
			return FieldSet{}, err
		}
		all = all.Union(fields)
	}
	// A map that is empty in one object is no value of its own where another has something in it.
	return all.Leaves().Without(serverMetadata), nil
}

// apart returns both maps without the fields that are the same in both or leaves of known, and without those in their
// maps. Lists stay as they are, since their items may have keys.
func apart(before, after map[string]any, known *node) (b, a map[string]any) {
	b, a = map[string]any{}, map[string]any{}
	for name, v := range before {
		other, exists := after[name]
		switch n := known.child(Field(name)); {
		case n.isLeaf() || exists && equal(v, other):
		case !exists:
			b[name] = v
		default:
			apartValues(name, v, other, n, b, a)
		}
	}
	for name, v := range after {
		if _, exists := before[name]; !exists && !known.child(Field(name)).isLeaf() {
			a[name] = v
		}
	}
	return b, a
}

// apartValues adds to b and a the values of a name, without what is the same in both.
func apartValues(name string, before, after any, known *node, b, a map[string]any) {
	x, isMap := before.(map[string]any)
	y, areMaps := after.(map[string]any)
	if !isMap || !areMaps {
		b[name], a[name] = before, after
		return
	}
	if restX, restY := apart(x, y, known); len(restX)+len(restY) > 0 {
		b[name], a[name] = restX, restY
	}
}
