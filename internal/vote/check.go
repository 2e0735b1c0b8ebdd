package vote

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"incumbent/election"
)

// Check looks once at what kind of server this is, before the first vote is
// asked of it: a server that is too old, a replica, or a Cluster's member in a
// quorum is refused, one that may evict the lease is warned of. A server that
// hides INFO is taken as it is.
func (m *Master) Check(ctx context.Context) error {
	if m.checked.Load() {
		return nil
	}
	info, err := m.info(ctx)
	switch {
	case err == nil:
	case Ambiguous(err), errors.Is(err, election.ErrLoading), errors.Is(err, election.ErrTLS),
		errors.Is(err, election.ErrAuth), errors.Is(err, election.ErrBusy), errors.Is(err, election.ErrWrongClient):
		return err // the same answer awaits the vote, or it can be asked again
	default:
		m.checked.Store(true)
		return nil
	}
	if v := info["redis_version"]; older(v, MinVersion) {
		return &election.MasterError{
			Master: m.Name, Op: "check", Kind: election.ErrServerTooOld,
			Err: fmt.Errorf("version %s", v), Remedy: "needs Redis " + MinVersion + " or newer",
		}
	}
	if m.lane == nil && info["role"] == "slave" { // a Cluster client follows redirections
		// Where a lease was replicated to it, the vote would say "held", and the
		// refusal would come only when somebody is needed.
		return &election.MasterError{
			Master: m.Name, Op: "check", Kind: election.ErrReadOnly,
			Err: errors.New("its role is slave"), Remedy: readOnlyRemedy,
		}
	}
	if m.Seals && m.lane == nil && info["cluster_enabled"] == "1" {
		return &election.MasterError{
			Master: m.Name, Op: "check", Kind: election.ErrWrongClient,
			Err: errors.New("a member of a Cluster"), Remedy: "a quorum needs independent masters",
		}
	}
	if p := info["maxmemory_policy"]; info["maxmemory"] != "0" && (strings.HasPrefix(p, "allkeys-") || strings.HasPrefix(p, "volatile-")) {
		m.warnOnce("eviction", "the server may evict leases when its memory is full: noeviction is safe", "maxmemory_policy", p)
	}
	m.metByInfo(info["run_id"])
	m.checked.Store(true)
	return nil
}

// info asks INFO and splits it into fields.
func (m *Master) info(ctx context.Context) (map[string]string, error) {
	fields := map[string]string{}
	var text string
	err := m.do(ctx, "check", func(ctx context.Context) (err error) {
		text, err = m.client.Info(ctx).Result()
		return err
	})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		k, v, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok && strings.IndexFunc(v, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 { // else no Redis wrote it
			fields[k] = v
		}
	}
	return fields, nil
}

// older compares dotted versions. A version that cannot be read is not older.
func older(version, least string) bool {
	v, l := strings.Split(version, "."), strings.Split(least, ".")
	for i := range l {
		if i >= len(v) {
			return false
		}
		a, err := strconv.Atoi(v[i])
		b, _ := strconv.Atoi(l[i])
		if err != nil || a != b {
			return err == nil && a < b
		}
	}
	return false
}

// Same finds two masters that are one server, which would have two votes. Those
// that hide their run_id cannot be compared.
func Same(masters []*Master) error {
	for i, m := range masters {
		id := m.RunID()
		if id == "" {
			continue
		}
		for _, before := range masters[:i] {
			if before.RunID() == id {
				return &election.MasterError{
					Master: before.Name + " and " + m.Name, Op: "check", Kind: election.ErrSameServer,
					Err: fmt.Errorf("both answer with run_id %s", id), Remedy: "a quorum needs independent masters, each given once",
				}
			}
		}
	}
	return nil
}
