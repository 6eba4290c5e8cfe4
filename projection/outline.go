package projection

// Outline returns the leaves of what the objects have: every field at which one of them has a value, except what only the
// server writes into the metadata. So objects of one kind can be compared as a whole, as [Diff] of what [Project] takes
// from each. Whether a list has keys, is a set or is atomic is what the managedFields of all of the objects reveal; a list
// of which they reveal nothing is taken for atomic. An entry of managedFields that can't be read is an error.
func Outline(objects ...map[string]any) (FieldSet, error) {
	var topology Topology
	topology.learnMetadata()
	for _, obj := range objects {
		if err := topology.learn(obj); err != nil {
			return FieldSet{}, err
		}
	}
	var all FieldSet
	for _, obj := range objects {
		fields, err := (&declarer{guess: true}).object(obj, &topology.root)
		if err != nil {
			return FieldSet{}, err
		}
		all = all.Union(fields)
	}
	// A map that is empty in one object is no value of its own where another has something in it.
	return all.Leaves().Without(bookkeeping), nil
}

// bookkeeping is the metadata that only the server writes.
var bookkeeping = func() FieldSet {
	var paths []Path
	for _, name := range serverOwned {
		paths = append(paths, metadataField(name))
	}
	return NewFieldSet(paths...)
}()
