package fault

// calmLength is how long calm lasts, in TTLs: a standby looks about once a TTL.
const calmLength = 5

// calm is the control: what is seen in it is what elections do by themselves.
func calm() Fault {
	return Fault{
		Name:  "calm",
		About: "nothing happens: the control, and what an election costs",
		Calm:  true, Simulated: true, Least: calmLength, Most: calmLength,
		Strike: onStore(func(StoreWorld) (func() error, error) {
			return func() error { return nil }, nil
		}),
	}
}
