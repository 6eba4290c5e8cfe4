package projection

// DiffDuplicates compares list items whose key or value occurs more than once in their list. The keys and values are
// those in the parameter fields. It returns an [OpDuplicate] for each key or value whose items differ between the two
// objects, in the order of the paths. The first item of each key or value isn't compared here, since [Project] and
// [Diff] look at it. Neither object is modified, and the differences share no memory with them.
func DiffDuplicates(before, after map[string]any, fields FieldSet) []Difference {
	d := differ{sensitive: Sensitive(before).Union(Sensitive(after))}
	b, a := NewObject(before, fields), NewObject(after, fields)
	twice := append(Project(before, fields).Duplicates, Project(after, fields).Duplicates...)
	for p := range NewFieldSet(twice...).All() {
		was, is := b.items(p), a.items(p)
		if !equal(was[min(1, len(was)):], is[min(1, len(is)):]) {
			d.path = p
			d.report(Difference{Op: OpDuplicate, Before: was, After: is})
		}
	}
	return d.changes
}

// items returns copies of all items that p names, which leads to an element that the fields have.
func (o *Object) items(p Path) []any {
	last := len(p) - 1
	at := o.root
	for _, e := range p[:last] {
		at = at.below(o.find(at, e))
	}
	items := []any{}
	if found := o.find(at, p[last]); found.list != nil && found.item >= 0 {
		for i, child := range found.list.child {
			if child == found.list.child[found.item] {
				items = append(items, deepCopy(found.list.list[i]))
			}
		}
	}
	return items
}
