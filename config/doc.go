// Package config reads one YAML file, then INCUMBENT_* environment variables,
// then flags, each overriding the one before, and opens what it describes: the
// connections of a process, and an elector for each of its jobs.
//
// # What is not promised
//
// That the store answers: Open succeeds while Redis is down, since a service
// must be able to start then. That the masters of a quorum are independent:
// what can be seen of it is checked (the same address, the same server, members
// of one Cluster, replicas), the rest only you know. That all candidates of an
// election are configured alike: nothing compares their files.
//
// That two modes exclude each other: while an election moves, and candidates of
// different modes run side by side, at least one of any two must be of ModeBoth.
//
// # Switching between single and quorum
//
// Both modes have a section of their own. They stand side by side, mode selects
// one, and changing that word is the whole of the change:
//
//	mode: single                # or quorum
//	single:
//	  address: redis.example:6379
//	quorum:
//	  masters:
//	    - redis-a.example:6379
//	    - redis-b.example:6379
//	    - address: redis-c.example:6379   # what differs at this one
//	      password_file: /run/secrets/redis-c
//	username: elector           # for all servers, unless said otherwise there
//	password_file: /run/secrets/redis
//	ttl: 15s
//
// Where candidates are running, they are replaced by candidates of mode both first,
// and those by candidates of the other mode when none of the old is left: see package
// both. It serves to replace masters of a quorum, too, which are then listed as
// quorum.new_masters.
//
// Only the selected section must be there. Whichever is there is checked, so
// that a mistake in the other one does not wait for the day of the switch; only
// the files that it names are not opened.
//
// The section single has exactly one of address, sentinel and cluster.
//
// # Rules
//
// A key, a variable that starts with INCUMBENT_ and a flag must be known;
// otherwise the nearest known name is suggested. Each key may stand once. A
// duration needs a unit: 10s, 500ms, 1m30s. Timings must fit each other. All
// problems are reported at once, each with field, value, place and rule (see
// FieldError). Values without a meaning are refused, never repaired.
//
// # Before the first start
//
// Config.Preflight, or incumbent check on a command line, asks every server whether
// it can serve an election, and says what is wrong or unwise, with a remedy, where
// Open would refuse or only log a line. It writes nothing.
//
// # Guards
//
// A campaign waits at masters that may have forgotten a lease, for about max_ttl.
// So does the first one ever, since a store that knows nothing may have been
// wiped: Client.Init, or incumbent init on a command line, says once that nobody
// can be leading. assume_new says so at every start, which is dangerous where a
// master may come back empty meanwhile. guards_off switches guards off, one by
// one; Open warns of it. replica_acks makes a grant count only when so many
// replicas have it.
//
// # Names
//
// The key tls.ca_file is INCUMBENT_TLS_CA_FILE in the environment and
// --tls-ca-file as a flag, and so for every other key: see Settings. Passwords
// have no flag, since a command line can be read by every user of a machine.
// In one variable or flag a list is separated by commas, and metadata is
// written name=value,name=value. A list replaces the one it overrides whole,
// together with what was said about its single entries. A password in a later
// source replaces a password_file of an earlier one, and the other way round.
//
// Three kinds of variable that start with INCUMBENT_ are no settings and are
// passed over: those of this project's own tests and tools, those that
// Kubernetes makes of the name of a service (INCUMBENT_SERVICE_HOST,
// INCUMBENT_PORT_...), and those named in Sources.Ignore.
//
// A relative file name is taken from the folder of the YAML file if it stands
// there, otherwise from the working directory.
//
// # Secrets
//
// A password never appears in an error, a log line or a printed Config: its
// type, Secret, shows as ***. A password_file is read again for each new
// connection, so that a password can be changed without a restart (that of a
// Sentinel is read once, by Open).
package config
