package redisproc

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports are sought below the range from which kernels hand out ephemeral ports:
// while a server is killed, its port must not become the local end of
// somebody's connection, nor a client that redials it be connected to itself.
const (
	lowPort        = 15000
	highPort       = 32000
	busOffset      = 10000 // the cluster bus listens that far above the port
	maxClusterPort = 65535 - busOffset
	portTries      = 50
)

// freePort returns a port on which nobody listened a moment ago.
func freePort(cluster bool) (int, error) {
	var err error
	for range portTries {
		port := lowPort + rand.IntN(highPort-lowPort)
		if err = tryPort(port); err == nil && cluster {
			err = tryPort(port + busOffset)
		}
		if err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port in %d tries between %d and %d: %w", portTries, lowPort, highPort, err)
}

func tryPort(port int) error {
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	return ln.Close()
}
