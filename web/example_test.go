package web_test

import (
	"context"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"incumbent/config"
	"incumbent/election"
	"incumbent/web"
)

func checkBridges(ctx context.Context, token election.Token) error {
	log.Print("checking with token ", token)
	return ctx.Err()
}

// A service with endpoints for a load balancer and an orchestrator, which answer from
// before the first campaign until the work has stopped.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	cfg, err := config.Load("incumbent.yaml")
	if err != nil {
		log.Fatal(err)
	}
	h := web.New(web.Options{Election: "bridge-health", ID: cfg.ID, Metadata: cfg.Metadata})
	listener, err := net.Listen("tcp", "127.0.0.1:8080")
	if err != nil {
		log.Fatal(err)
	}
	serving, end := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.Serve(serving, listener) }()

	client, err := cfg.Open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	e, err := client.Elector("bridge-health", func(o *election.Options) { o.Observer = h.Observe })
	if err != nil {
		log.Fatal(err)
	}
	context.AfterFunc(ctx, h.ShuttingDown) // at once, while the work is stopping
	err = election.Run(ctx, e, func(ctx context.Context, t *election.Term) error {
		return checkBridges(ctx, t.Token())
	})
	h.Stopped(err)
	<-ctx.Done() // an error shows in /livez until somebody ends the process
	end()
	if err := <-served; err != nil {
		log.Print(err)
	}
	if err := client.Close(); err != nil {
		log.Print(err)
	}
}
