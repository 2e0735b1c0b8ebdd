// Development tools, pinned apart from the product, so that no user of the
// library ever downloads them. From the top of the repository:
//
//	go tool -modfile=tools/go.mod staticcheck ./...
//	go tool -modfile=tools/go.mod benchstat old.txt new.txt
module incumbent/tools

go 1.26.0

tool (
	codeberg.org/polyfloyd/go-errorlint
	github.com/golangci/misspell/cmd/misspell
	github.com/kisielk/errcheck
	github.com/mdempsky/unconvert
	github.com/timakin/bodyclose
	golang.org/x/perf/cmd/benchstat
	honnef.co/go/tools/cmd/staticcheck
)

require (
	codeberg.org/polyfloyd/go-errorlint v1.9.1 // indirect
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	github.com/golangci/misspell v0.8.0 // indirect
	github.com/gostaticanalysis/analysisutil v0.7.1 // indirect
	github.com/gostaticanalysis/comment v1.4.2 // indirect
	github.com/kisielk/errcheck v1.30.0 // indirect
	github.com/mdempsky/unconvert v0.0.0-20260816212528-33842c47157a // indirect
	github.com/timakin/bodyclose v0.0.0-20260723120731-857993a2939c // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	golang.org/x/tools/go/packages/packagestest v0.1.1-deprecated // indirect
	honnef.co/go/tools v0.8.2 // indirect
)
