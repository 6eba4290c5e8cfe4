// Package importid reads the text by which a user names an object and the fields of it to import:
// "default/Deployment/web?manager=helm". The kubectl plugin and the Terraform provider share it.
package importid
