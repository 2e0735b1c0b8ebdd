package config

import "github.com/redis/go-redis/v9"

// A Server is one thing that a Client is connected to: a server, a primary behind
// Sentinels, or a Cluster.
type Server struct {
	// Name is what errors call it: its address as it is dialed, or that of a
	// primary behind Sentinels or of a Cluster in words.
	Name string
	// Client belongs to the Client that gave it, which closes it.
	Client redis.UniversalClient
}

// Servers lists the servers of the selected mode in the order of the configuration,
// for those who want to ask them something themselves, such as how far away they are.
func (cl *Client) Servers() []Server {
	var list []Server
	for i, s := range cl.given.servers() {
		list = append(list, Server{s.name, cl.clients[i]})
	}
	return list
}

// ServerNames lists the names of the servers to which Open would connect. Call it on a
// valid configuration.
func (c *Config) ServerNames() []string {
	var list []string
	for _, s := range c.servers() {
		list = append(list, s.name)
	}
	return list
}
