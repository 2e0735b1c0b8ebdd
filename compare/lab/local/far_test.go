package local

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"incumbent/compare/fault"
)

// TestFarMastersAreNotHarmed calls all that a lab may do to masters, also what comes to
// it in times to come: where they are somebody else's each is an error. Their place has
// no connection for such things, so that a method which forgets to ask would panic.
func TestFarMastersAreNotHarmed(t *testing.T) {
	m := &server{addr: "somebody's:6379"}
	l := &Lab{
		opt: Options{Far: &Far{Lab: "remote"}}, rec: newRecorder(), scene: &scene{ctx: context.Background()},
		places: []*place{{name: "master-1", primary: m, servers: []*server{m}}},
	}
	harmless := []string{"Struck", "CutFrom", "HealFrom", "LoseReply"} // which strike links, or nobody
	world := reflect.TypeFor[fault.StoreWorld]()
	calls := 0
	for i := range world.NumMethod() {
		method := world.Method(i)
		if slices.Contains(harmless, method.Name) {
			continue
		}
		var args []reflect.Value
		onMaster := false
		for p := range method.Type.Ins() {
			args = append(args, reflect.Zero(p))
			onMaster = onMaster || p.Kind() == reflect.Int
		}
		if !onMaster {
			continue
		}
		calls++
		out := reflect.ValueOf(l).MethodByName(method.Name).Call(args)
		if len(out) == 0 || out[len(out)-1].IsNil() {
			t.Errorf("%s is no error", method.Name)
		}
	}
	if calls < 10 {
		t.Errorf("only %d methods were called", calls)
	}
}
