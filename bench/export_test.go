package bench

import (
	"context"
	"fmt"
	"slices"
)

// CountOne counts what one operation of a mode costs on real servers.
func CountOne(ctx context.Context, servers []string, m Mode, name string) (Counts, error) {
	endpoints, err := parseEndpoints(servers)
	if err != nil {
		return Counts{}, err
	}
	modes := []Mode{m}
	counts, _, err := countAll(ctx, Options{Modes: modes}, &farm{endpoints: endpoints})
	if err != nil {
		return Counts{}, err
	}
	i := slices.IndexFunc(Ops(modes), func(o Op) bool { return o.Name == name && o.Mode == m.Name })
	if i < 0 {
		return Counts{}, fmt.Errorf("no operation %s", name)
	}
	return counts[i], nil
}
