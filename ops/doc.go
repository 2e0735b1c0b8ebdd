// Package ops has what operators load into other programs: alert rules for Prometheus
// (alerts.yaml) and a dashboard for Grafana (dashboard.json), both for the metrics of
// package metrics. There is no code; the tests have Prometheus evaluate the rules, and
// compare every name with what is exported.
//
// # What is not promised
//
// Neither shows two leaders for a shorter time than lies between two scrapes. The fence
// at the resource is the insurance, not the graph.
package ops
