package fault

// How many TTLs clients are paused.
const (
	leastPaused = 0.3
	mostPaused  = 2.0
)

// clientPause is a CLIENT PAUSE, as before a planned failover: a master executes nothing
// for a while, and then what those had sent who still wait for it. It ends by itself,
// since a server that is paused does not take the command that would end it.
func clientPause() Fault {
	return Fault{
		Name:  "client-pause",
		About: "one master pauses its clients: it executes nothing for a while",
		Store: true,
		Strike: once(func(w StoreWorld, master int) error {
			return w.PauseClients(master, leastPaused+(mostPaused-leastPaused)*w.Random())
		}),
	}
}
