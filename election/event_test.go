package election_test

import (
	"testing"
	"testing/synctest"

	"incumbent/election"
)

// An observer that is too slow misses events other than those that begin and
// end a term; the next event that it gets says how many.
func TestSlowObserverMissesTheLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []election.Event
		release := make(chan struct{})
		send := election.Queue(func(ev election.Event) {
			<-release
			got = append(got, ev)
		})
		send(election.Event{Kind: election.CampaignStarted})
		synctest.Wait() // that one is being handed over
		for i := range 1024 {
			send(election.Event{Kind: election.Renewed, Token: election.Token(i + 1)})
		}
		for range 3 {
			send(election.Event{Kind: election.Renewed})
			send(election.Event{Kind: election.BidRefused})
			send(election.Event{Kind: election.RenewFailed})
		}
		always := []election.EventKind{election.TermStarted, election.TermStopping, election.TermEnded, election.TermReleased, election.WorkStarted, election.WorkReturned}
		for _, kind := range always {
			send(election.Event{Kind: kind})
		}
		close(release)
		synctest.Wait()
		if len(got) != 1+1024+len(always) {
			t.Fatalf("%d events", len(got))
		}
		for i, ev := range got[1:1025] {
			if ev.Token != election.Token(i+1) || ev.Dropped != 0 {
				t.Fatalf("event %d is %+v", i, ev)
			}
		}
		for i, kind := range always {
			ev, dropped := got[1025+i], 0
			if i == 0 {
				dropped = 9
			}
			if ev.Kind != kind || ev.Dropped != dropped {
				t.Errorf("event %+v, want %s after %d dropped", ev, kind, dropped)
			}
		}
		send(election.Event{Kind: election.Renewed, Token: 99})
		synctest.Wait()
		if last := got[len(got)-1]; last.Token != 99 || last.Dropped != 0 {
			t.Errorf("after it caught up: %+v", last)
		}
	})
}

func TestNobodyObserves(t *testing.T) {
	election.Queue(nil)(election.Event{Kind: election.TermStarted})
}
