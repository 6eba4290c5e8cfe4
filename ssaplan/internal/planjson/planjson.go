// Package planjson has the JSON form of a plan, which docs/plan.schema.json describes.
package planjson

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Version is the version of the form. It grows when a program could misread what another release wrote.
const Version = 1

// Plan is a plan.
type Plan struct {
	Version     int                       `json:"version"`
	Object      Object                    `json:"object"`
	Subresource string                    `json:"subresource,omitempty"`
	Action      string                    `json:"action"`
	Reason      string                    `json:"reason"`
	Deferral    string                    `json:"deferral,omitempty"`
	Changes     []explain.Change          `json:"changes"`
	Declared    *Declared                 `json:"declared,omitempty"`
	Dropped     []fieldowner.DroppedField `json:"dropped,omitempty"`
	Ownership   []fieldowner.Transfer     `json:"ownership,omitempty"`
	Conflicts   []fieldowner.Conflict     `json:"conflicts,omitempty"`
	Replace     *Replacement              `json:"replace,omitempty"`
	Assigned    []projection.Path         `json:"assigned,omitempty"`
	Generated   []projection.Path         `json:"generated,omitempty"`
	Ineffective []projection.Ineffective  `json:"ineffective,omitempty"`
	Unknown     []projection.Path         `json:"unknown,omitempty"`
	Ignored     []explain.IgnoredField    `json:"ignored,omitempty"`
	Writers     []fieldowner.Writer       `json:"writers,omitempty"`
	Rival       *explain.Rival            `json:"rival,omitempty"`
	Adjustments []projection.Adjustment   `json:"adjustments,omitempty"`
	Warnings    []foreign.Text            `json:"warnings,omitempty"`
	Requests    int                       `json:"requests"`
}

// Object is how plans name an object.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// Replacement is what a plan to replace an object says more.
type Replacement struct {
	Evidence foreign.Text          `json:"evidence"`
	Old      Object                `json:"old"`
	UID      string                `json:"uid,omitempty"`
	Fields   []immutability.Field  `json:"fields"`
	Hazards  []immutability.Hazard `json:"hazards,omitempty"`

	Propagation metav1.DeletionPropagation `json:"propagation,omitempty"`
}
