package native_test

import (
	"crypto/sha1"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"incumbent/internal/vote"
	"incumbent/internal/vote/native"
)

func TestMain(m *testing.M) {
	logging.Disable()
	flag.Parse()
	if f := flag.Lookup("test.fuzzworker"); f != nil && f.Value.String() == "true" {
		os.Exit(m.Run()) // it has goroutines of its own
	}
	goleak.VerifyTestMain(m)
}

// TestEveryScriptIsKnown: each native script stands for the Lua as it is now.
func TestEveryScriptIsKnown(t *testing.T) {
	byName := map[string]string{}
	for _, s := range native.Scripts() {
		byName[s.Name] = s.SHA
	}
	for _, s := range vote.Scripts() {
		if sum := fmt.Sprintf("%x", sha1.Sum([]byte(s.Source))); byName[s.Name] != sum {
			t.Errorf("%s.lua has changed: make %s.go do the same, and then its SHA %s", s.Name, s.Name, sum)
		}
		delete(byName, s.Name)
	}
	for name := range byName {
		t.Errorf("%s is no script any more", name)
	}
}

var sequences = flag.Int("sequences", 500, "how many random sequences TestNativeIsLua plays")

// TestNativeIsLua plays random sequences of calls, clock jumps, restarts and
// corruptions at two masters, and compares each reply and all that is stored.
func TestNativeIsLua(t *testing.T) {
	seen := &tally{statuses: map[string]int{}}
	for seed := range *sequences {
		data := make([]byte, 900)
		random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
		_, _ = random.Read(data) // never fails
		synctest.Test(t, func(t *testing.T) { play(t, data, seen) })
		if t.Failed() {
			t.Fatalf("sequence %d", seed)
		}
	}
	t.Logf("%d calls, %d answered natively: %v", seen.calls, seen.native, seen.statuses)
	if seen.calls < 40**sequences || seen.native < seen.calls/2 {
		t.Errorf("only %d calls, and only %d of them answered natively", seen.calls, seen.native)
	}
	for _, s := range answers {
		if seen.statuses[s] < *sequences/100 {
			t.Errorf("%q was answered natively %d times", s, seen.statuses[s])
		}
	}
}

// answers are all that a native script can answer.
var answers = []string{
	"acquire granted", "acquire held", "acquire guarded", "acquire late", "acquire spent",
	"seal sealed", "seal lost", "seal regressed", "renew renewed", "renew expired", "renew taken",
	"reseat reseated", "reseat late", "reseat regressed", "reseat taken",
	"acquire restless", "acquire hidden", "release released", "release expired", "release taken", "inspect state", "init ready", "init held",
	"ask asked", "ask free", "ask other",
}

// FuzzNativeIsLua is TestNativeIsLua for data that a fuzzer makes.
func FuzzNativeIsLua(f *testing.F) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		seen := &tally{statuses: map[string]int{}}
		synctest.Test(t, func(t *testing.T) { play(t, slices.Clone(data[:min(len(data), 4000)]), seen) })
	})
}
