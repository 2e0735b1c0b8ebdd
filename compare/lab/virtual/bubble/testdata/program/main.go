// The program is built by the test of package bubble.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"incumbent/compare/lab/virtual/bubble"
)

func main() {
	what := os.Args[1]
	bubble.Main(func(run func(func()) error) int {
		switch what {
		case "panic":
			return report(run(func() { panic("boom") }))
		case "deadlock":
			return report(run(func() { go func() { <-make(chan int) }() }))
		}
		for range 2 {
			err := run(func() {
				begin := time.Now()
				time.Sleep(time.Hour)
				fmt.Println("slept", time.Since(begin))
			})
			if err != nil {
				return 5
			}
		}
		return 7
	})
}

// report prints the first line of err.
func report(err error) int {
	first, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Println(first)
	return 3
}
