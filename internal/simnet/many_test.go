package simnet_test
import ("testing";"runtime";"time";"fmt")
func TestMany(t *testing.T) {
	d := 0
	for seed := uint64(1000); seed < 1100; seed++ {
		runtime.GOMAXPROCS(1)
		a := live(t, seed, 5*time.Second)
		runtime.GOMAXPROCS(2)
		b := live(t, seed, 5*time.Second)
		if a != b { d++; if d < 5 { fmt.Println(seed, firstDifference(a,b)) } }
	}
	fmt.Println("differ", d)
}
