package fence

// Slot is the hash slot of a key, for the tests outside of the package.
var Slot = slot
