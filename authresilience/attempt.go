package authresilience

import "time"

// ReadAttempt describes the read that failed.
type ReadAttempt struct {
	// Object names what was read, such as "apps/v1/Deployment default/web". The warning quotes it, with invisible
	// characters escaped.
	Object string
	// Time is when the read failed. Default: now.
	Time time.Time
	// Credential is what is known about the credentials of the read, see [Diagnose]. Default: nothing.
	Credential Diagnosis
	// Remembered says that the server's address and credentials come from an earlier run, as from a Terraform state,
	// and not from the configuration of this run. Then the state is also kept if the program that provides the
	// credentials fails. Otherwise the failing old program would block every plan, even if the user has configured
	// another one for this run. Default: they come from the configuration of this run.
	Remembered bool
	// KeepUnreachable also keeps the state if no server can be reached or answers in time, or if its certificate isn't
	// trusted: the server was removed, or its certificate was renewed. A server that is only down looks the same, so
	// let the user decide. Default: these are errors.
	KeepUnreachable bool
}

// keeps reports whether a read that failed like this may keep the prior state.
func (read ReadAttempt) keeps(class Class) bool {
	switch class {
	case ClassCredentialPlugin:
		return read.Remembered
	case ClassConnection, ClassTLS, ClassTimeout:
		return read.KeepUnreachable
	}
	return class.Degradable()
}
