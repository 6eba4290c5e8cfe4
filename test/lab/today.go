package lab

import "time"

// Today reports whether today is the turn of a case, given its number: each day has one in so many, another one than
// the day before.
func Today(number, of int) bool { return (number+time.Now().YearDay())%of == 0 }
