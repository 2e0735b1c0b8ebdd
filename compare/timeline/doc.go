// Package timeline tells one run as text: one line an event that matters, in at most
// 100 columns.
//
// It leaves out what is as it should be: acts that were taken and renewals that counted
// are summed up until something happens. It judges nothing; broken rules are those of
// package measure.
package timeline
