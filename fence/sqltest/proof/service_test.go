package proof_test

import (
	"net/http"
	"slices"
	"sync"

	"incumbent/election"
	"incumbent/fence"
)

// service is the HTTP service that leaders write to: two registers for each
// election, one of them behind a Middleware.
type service struct {
	http.ServeMux

	mu        sync.Mutex
	elections []string
	registers map[string]*register // by path and election
}

type register struct {
	now election.Token
	log []election.Token
}

func newService() *service { return &service{registers: map[string]*register{}} }

// add serves one more election.
func (s *service) add(electionName string) error {
	m, err := fence.NewMiddleware(map[string]fence.Acts{electionName: &fence.Memory{}}, fence.MiddlewareOptions{})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.elections = append(s.elections, electionName)
	s.Handle("POST /raise/"+electionName, m.RaiseHandler())
	s.Handle("PUT /"+guardedPath+"/"+electionName, m.Wrap(s.put(guardedPath, electionName)))
	s.Handle("PUT /"+openPath+"/"+electionName, s.put(openPath, electionName))
	return nil
}

// put writes the request's token to a register.
func (s *service) put(path, electionName string) http.Handler {
	r := &register{}
	s.registers[path+"/"+electionName] = r
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		tokens, err := fence.ParseTokens(req.Header)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		r.now = tokens[electionName]
		r.log = append(r.log, r.now)
		w.WriteHeader(http.StatusNoContent)
	})
}

func (s *service) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.elections)
}

func (s *service) history(path, electionName string) (now election.Token, log []election.Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.registers[path+"/"+electionName]
	return r.now, slices.Clone(r.log)
}
