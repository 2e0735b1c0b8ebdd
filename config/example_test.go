package config_test

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"incumbent/config"
	"incumbent/election"
)

func checkBridges(ctx context.Context, token election.Token) error {
	fmt.Println("checking with token", token)
	return ctx.Err()
}

// A service runs a job on the one of its instances that leads.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	cfg, err := config.Load("incumbent.yaml") // mode, masters, timing
	if err != nil {
		log.Fatal(err)
	}
	client, err := cfg.Open(ctx) // connections, shared by all elections of the process
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	e, err := client.Elector("bridge-health") // one election a job
	if err != nil {
		log.Fatal(err)
	}
	err = election.Run(ctx, e, func(ctx context.Context, t *election.Term) error {
		return checkBridges(ctx, t.Token())
	})
	if err != nil {
		log.Print(err)
	}
}

// Changing one word switches the store.
func ExampleLoadFrom() {
	file := []byte(`
mode: single
single:
  address: redis.example
quorum:
  masters: [redis-a.example, redis-b.example, redis-c.example]
ttl: 10s
`)
	for _, environ := range [][]string{{}, {"INCUMBENT_MODE=quorum"}} {
		cfg, err := config.LoadFrom(config.Sources{YAML: file, Environ: environ})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(cfg.Mode, cfg.TTL)
	}
	// Output:
	// single 10s
	// quorum 10s
}

// All problems come at once.
func ExampleFieldError() {
	_, err := config.LoadFrom(config.Sources{Environ: []string{}, YAML: []byte("mode: Single\nsingle: {address: redis.example}\ntll: 10s\nrenew: 5\n")})
	fmt.Println(err)
	// Output:
	// unknown key tll (line 3): did you mean ttl?
	// renew "5" (line 4): needs a unit, such as 10s or 500ms
}

// A program with flags of its own lets the settings stand among them.
func ExampleRegisterFlags() {
	flags := flag.NewFlagSet("service", flag.ContinueOnError)
	given := config.RegisterFlags(flags)
	if err := flags.Parse([]string{"--mode", "quorum", "--quorum-masters=a,b", "--quorum-masters=c", "--ttl=5s"}); err != nil {
		fmt.Println(err)
		return
	}
	cfg, err := config.LoadFrom(config.Sources{Environ: []string{}, Flags: given})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cfg.Mode, len(cfg.Quorum.Masters), cfg.TTL)
	// Output: quorum 3 5s
}
