// Package compare plays the same misfortunes to every mode of election and sums
// up what happened.
//
// It defines no figure of its own (package measure does), starts no server (labs
// do) and judges nothing but broken rules. A lab that cannot replay a seed still
// gets one: it is then only a number.
package compare
