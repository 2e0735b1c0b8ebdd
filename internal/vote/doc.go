// Package vote is what single and quorum share: key names, the Lua scripts that
// one master runs, their replies, and typed errors.
//
// It promises nothing about leadership: a vote says what one master stored at
// one instant. Whether votes make a term, and until when, is for the stores and
// package election to say.
package vote
