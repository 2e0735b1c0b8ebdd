package report

import "testing"

// TestShares: two digits, no exponent, and what is not all is not 100 %.
func TestShares(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0 %", 0.0015: "0.15 %", 0.016: "1.6 %", 0.5: "50 %", 0.83: "83 %", 0.9897: "99 %", 0.99815: "99.81 %", 0.99999: "99.99 %", 1: "100 %",
	} {
		if got := percent(share); got != want {
			t.Errorf("%v is %q, want %q", share, got, want)
		}
	}
	for rate, want := range map[float64]string{0: "0.0", 0.0953: "0.095", 0.594: "0.59", 1.66: "1.7", 14.28: "14.3"} {
		if got := perSecond(rate); got != want {
			t.Errorf("%v a second is %q, want %q", rate, got, want)
		}
	}
}
