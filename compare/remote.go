package compare

import (
	"context"

	"incumbent/compare/history"
	"incumbent/compare/lab/local"
	"incumbent/compare/lab/remote"
)

// Remote is the lab of the user's own endpoints. The program that uses it must call
// local.ChildMain and remote.ChildMain first.
type Remote struct{ Player *remote.Player }

// Name implements Lab.
func (Remote) Name() string { return remote.Name }

// Play implements Lab. It measures first, and removes all keys in the end.
func (r Remote) Play(ctx context.Context, jobs []Job, done func(int, history.Run, error)) error {
	return r.Player.Play(ctx, RemoteSpecs(jobs), done)
}

// RemoteSpecs are jobs as the lab wants them.
func RemoteSpecs(jobs []Job) []local.Spec {
	specs := make([]local.Spec, len(jobs))
	for i, j := range jobs {
		specs[i] = local.Spec(j)
	}
	return specs
}
