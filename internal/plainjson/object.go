package plainjson

// Object is the JSON form of the name of an object. It has the fields of identity.Identity, so that one can be
// converted to the other.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}
