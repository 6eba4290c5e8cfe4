// Package input finds the manifests that the command line names: in files, folders, standard input, at addresses, and
// in kustomizations. What can't be read is an error of its own, and the rest is read all the same.
package input
