package config

import (
	"slices"
	"testing"

	"incumbent/internal/redisproc"
	"incumbent/internal/redisproc/redistest"
)

// TestServers: the servers of the selected mode, in order, by the names that errors use,
// each with a client that reaches it.
func TestServers(t *testing.T) {
	var addresses []string
	for range 3 {
		addresses = append(addresses, redistest.StartT(t, redisproc.Options{}).Addr())
	}
	c := fast(ModeQuorum, addresses...)
	c.Single.Address = "elsewhere.example:6379"
	cl := open(t, c)
	var names []string
	for _, s := range cl.Servers() {
		names = append(names, s.Name)
		noErr(t, s.Client.Set(t.Context(), "who", s.Name, 0).Err())
	}
	if !slices.Equal(names, addresses) || !slices.Equal(c.ServerNames(), addresses) {
		t.Errorf("servers are %q and %q, want %q", names, c.ServerNames(), addresses)
	}
	for _, s := range cl.Servers() {
		if got := s.Client.Get(t.Context(), "who").Val(); got != s.Name {
			t.Errorf("%s is %q", s.Name, got)
		}
	}
	behind := Config{Mode: ModeSingle, Single: Single{Sentinel: Sentinel{Master: "mine", Addresses: []string{"s.example"}}}}
	if got := behind.ServerNames(); len(got) != 1 || got[0] != "mine (by Sentinel)" {
		t.Errorf("a primary behind Sentinels is %q", got)
	}
}
