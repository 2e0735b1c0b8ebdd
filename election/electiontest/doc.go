// Package electiontest helps to test what is built on package election, and what
// it is built on: Memory is a lease store for the unit tests of services;
// RunStore and RunElector are what every election.Store must pass.
//
// # What is not promised
//
// Memory lives in one process and keeps nothing. It does not imitate a server's
// restart, its clock or its replication: for those, run against a real one.
//
// # Testing a service
//
// Electors made by Memory are the real ones, over a store in memory. All
// candidates of one election share one Memory; a test then does to the lease
// what the field does to it:
//
//	func TestSyncStopsWhenTheLeaseIsStolen(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			m := electiontest.NewMemory()
//			e := m.Elector(election.Options{ID: "me"})
//			s := service.Start(t.Context(), e)
//			<-s.Started()
//			m.StealBy("other") // or Expire, Unreachable, Hang, Slow, LoseReply, Fail
//			<-s.Stopped()      // within a renewal interval of virtual time
//			if err := e.Close(t.Context()); err != nil {
//				t.Fatal(err)
//			}
//		})
//	}
//
// Inside a testing/synctest bubble, time is virtual, so that a TTL of 15 s costs
// nothing; outside of it, choose a short TTL. Close every elector at the end of
// a bubble: an open one keeps its lease renewed, as it should.
package electiontest
