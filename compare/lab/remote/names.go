package remote

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// An ID names a comparison's elections: random words, so that no two comparisons ever
// meet, and how many elections there are.
type ID struct {
	random string
	total  int
}

const (
	randomBytes   = 6
	mostElections = 10_000_000
)

// NewID makes one for so many elections.
func NewID(total int) ID {
	b := make([]byte, randomBytes)
	_, _ = rand.Read(b) // which never fails
	return ID{hex.EncodeToString(b), total}
}

// String is what ParseID reads.
func (id ID) String() string { return fmt.Sprintf("%s-%d", id.random, id.total) }

// ParseID reads what String writes.
func ParseID(s string) (ID, error) {
	random, count, ok := strings.Cut(s, "-")
	n, err := strconv.Atoi(count)
	b, bad := hex.DecodeString(random)
	if !ok || err != nil || bad != nil || len(b) != randomBytes || n < 1 || n > mostElections {
		return ID{}, fmt.Errorf("%q: must be what an earlier comparison named, such as 0f1e2d3c4b5a-120", s)
	}
	return ID{random, n}, nil
}

// Election is the name of one of them, from 0 on.
func (id ID) Election(i int) string { return fmt.Sprintf("compare-%s-%d", id.random, i) }

// Elections is how many there are.
func (id ID) Elections() int { return id.total }

// Keys is the pattern of all keys.
func (id ID) Keys(prefix string) string {
	return fmt.Sprintf("%s:{compare-%s-*}:lease and :record", prefix, id.random)
}
