// Package parts changes one part of a value after the other, for tests of comparisons that must not forget one.
package parts

import (
	"fmt"
	"reflect"
)

// Part is a part of a value.
type Part struct {
	// Name is the way to it: ".Changes[].Path". The list itself is in two parts, ".Changes more" and ".Changes less",
	// which have an element more and one less.
	Name string
	// Change gives it another value; nil if only the package of its type can.
	Change func()
}

// Of returns the parts of the value that pointer points to, down to strings, numbers and lists. An interface gets a
// string. Those of a type that others has a value of, or for, are not looked into, and get that value. It is an error
// if a list or pointer has nothing that could be looked into, so that no part is missed.
func Of(pointer any, others ...any) ([]Part, error) {
	w := walker{}
	for _, other := range others {
		w.others = append(w.others, reflect.ValueOf(other))
	}
	err := w.walk("", reflect.ValueOf(pointer).Elem())
	return w.parts, err
}

type walker struct {
	others []reflect.Value
	parts  []Part
}

func (w *walker) walk(name string, v reflect.Value) error {
	set := func(to reflect.Value) { w.parts = append(w.parts, Part{name, func() { v.Set(to.Convert(v.Type())) }}) }
	for _, other := range w.others {
		if other.Type() == v.Type() || v.Kind() == reflect.Interface && v.NumMethod() > 0 &&
			other.Type().Implements(v.Type()) {
			set(other)
			return nil
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		return w.fields(name, v)
	case reflect.Slice:
		return w.list(name, v)
	case reflect.Pointer:
		if v.IsNil() {
			return fmt.Errorf("%s: nothing is there", name)
		}
		return w.walk(name, v.Elem())
	case reflect.String:
		set(reflect.ValueOf(v.String() + "other"))
	case reflect.Interface:
		if !reflect.TypeFor[string]().Implements(v.Type()) {
			return fmt.Errorf("%s: what is another %s?", name, v.Type())
		}
		set(reflect.ValueOf("other"))
	case reflect.Bool:
		set(reflect.ValueOf(!v.Bool()))
	case reflect.Int:
		set(reflect.ValueOf(v.Int() + 1))
	default:
		return fmt.Errorf("%s: what is another %s?", name, v.Type())
	}
	return nil
}

func (w *walker) fields(name string, v reflect.Value) error {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() {
			w.parts = append(w.parts, Part{Name: name + "." + field.Name})
		} else if err := w.walk(name+"."+field.Name, v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) list(name string, v reflect.Value) error {
	if v.Len() == 0 {
		return fmt.Errorf("%s: nothing is there", name)
	}
	w.parts = append(w.parts,
		Part{name + " more", func() { v.Set(reflect.Append(v, v.Index(0))) }},
		Part{name + " less", func() { v.Set(v.Slice(1, v.Len())) }},
	)
	return w.walk(name+"[]", v.Index(0))
}
