package attention

import "fmt"

// specs are where kinds have the spec of their pods.
var specs = [][]string{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}}

// podRights are what pods may do on the host that they run on, of any kind that has pods.
func podRights(object map[string]any) (out []right) {
	for _, path := range specs {
		spec := at(object, path...)
		if list(at(spec, "containers")) == nil {
			continue
		}
		for _, name := range []string{"hostNetwork", "hostPID", "hostIPC"} {
			if at(spec, name) == true {
				out = append(out, right{what: "pods with " + name})
			}
		}
		for _, volume := range list(at(spec, "volumes")) {
			if path := at(volume, "hostPath", "path"); path != nil {
				out = append(out, right{"pods with a path of the host", fmt.Sprint(path)})
			}
		}
		for _, name := range []string{"initContainers", "containers"} {
			for _, container := range list(at(spec, name)) {
				out = append(out, containerRights(spec, container)...)
			}
		}
	}
	return out
}

func containerRights(spec, container any) (out []right) {
	name := fmt.Sprint(at(container, "name"))
	context := at(container, "securityContext")
	if at(context, "privileged") == true {
		out = append(out, right{"a privileged container", name})
	}
	if at(context, "allowPrivilegeEscalation") == true {
		out = append(out, right{"a container that may escalate its privileges", name})
	}
	user := at(context, "runAsUser")
	if user == nil {
		user = at(spec, "securityContext", "runAsUser")
	}
	if user == int64(0) {
		out = append(out, right{"a container that runs as root", name})
	}
	for _, capability := range words(at(context, "capabilities", "add")) {
		out = append(out, right{"a container with a capability", name + " with " + capability})
	}
	return out
}
