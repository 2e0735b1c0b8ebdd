package fence

import (
	"encoding/json"
	"errors"
	"net/http"

	"incumbent/election"
)

// refusal is the body of an answer that is not the handler's own. Names in it
// are those that the service was configured with, never the client's.
type refusal struct {
	Reason   string         `json:"error"`
	Election string         `json:"election,omitempty"`
	Token    election.Token `json:"token,omitempty"`
	Known    election.Token `json:"known,omitempty"`
}

func refuse(w http.ResponseWriter, status int, body refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that has gone needs no answer
}

// refuseEntry answers that a guard did not let a request in. What a guard says
// besides being fenced may be about the inside of the service: it stays there.
func refuseEntry(w http.ResponseWriter, electionName string, t election.Token, err error) {
	var f *election.FencedError
	if !errors.As(err, &f) {
		refuse(w, http.StatusServiceUnavailable, refusal{Reason: "the guard could not tell: nothing is certain", Election: electionName})
		return
	}
	known := max(f.Known, t+1) // a guard that does not say knows at least that
	w.Header().Set(Header, FormatToken(electionName, known))
	refuse(w, http.StatusConflict, refusal{election.ErrFenced.Error(), electionName, t, known})
}

func headerStatus(err error) int {
	if errors.Is(err, ErrLargeHeader) {
		return http.StatusRequestHeaderFieldsTooLarge
	}
	return http.StatusBadRequest
}
