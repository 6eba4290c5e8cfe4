// Package importid answers: which object, and which of its fields, does an import ID name? A user writes this line of
// text to start managing an existing object. The package isn't for reading the object: Planner.Import of package
// ssaplan is.
//
//	id, err := importid.Parse("shop/Deployment/web?manager=helm")
//	if err != nil {
//		log.Fatal(err) // says which forms there are
//	}
//	fmt.Println(id.Namespace, id.Kind, id.Name) // shop Deployment web
//	fmt.Println(id.Strategy, id.Manager)        // manager helm: the fields of this field manager
//
// The kubectl plugin and the Terraform provider read the same form.
package importid
