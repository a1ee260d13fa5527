// Runs golang.org/x/time/rate for compare.py: one limiter per key, whose burst is the quota.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

type request struct {
	instant int64
	key     string
}

type limiter struct {
	quota int
	every rate.Limit
	keys  map[string]*rate.Limiter
}

func newLimiter(quota int, window int64) *limiter {
	return &limiter{quota, rate.Every(time.Duration(window / int64(quota))), map[string]*rate.Limiter{}}
}

func (l *limiter) of(key string) *rate.Limiter {
	known, ok := l.keys[key]
	if !ok {
		known = rate.NewLimiter(l.every, l.quota)
		l.keys[key] = known
	}
	return known
}

// ask admits the request, or returns the wait.
func (l *limiter) ask(key string, instant int64) (bool, time.Duration) {
	now := time.Unix(0, instant)
	reservation := l.of(key).ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait == 0, wait
}

func resident() int64 {
	debug.FreeOSMemory()
	text, _ := os.ReadFile("/proc/self/statm")
	var all, pages int64
	fmt.Sscan(string(text), &all, &pages)
	return pages * 4096
}

func main() {
	var quota int
	var window int64
	var trace []request
	lines := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch words[0] {
		case "init":
			fmt.Sscan(words[1]+" "+words[2], &quota, &window)
			file, err := os.Open(words[3])
			if err != nil {
				panic(err)
			}
			text := bufio.NewScanner(file)
			for text.Scan() {
				var one request
				fmt.Sscan(text.Text(), &one.instant, &one.key)
				trace = append(trace, one)
			}
			fmt.Fprintln(out, "ok")
		case "run":
			l := newLimiter(quota, window)
			for _, one := range trace {
				if ok, wait := l.ask(one.key, one.instant); ok {
					fmt.Fprintln(out, 1)
				} else {
					fmt.Fprintln(out, 0, wait.Nanoseconds())
				}
			}
		case "probe":
			var number int
			var instant int64
			fmt.Sscan(words[1]+" "+words[2], &number, &instant)
			l := newLimiter(quota, window)
			for _, one := range trace[:number+1] {
				if one.key == trace[number].key {
					l.ask(one.key, one.instant)
				}
			}
			if ok, _ := l.ask(trace[number].key, instant); ok {
				fmt.Fprintln(out, 1)
			} else {
				fmt.Fprintln(out, 0)
			}
		case "time":
			best := time.Hour
			for round := 0; round < 5; round++ {
				l := newLimiter(quota, window)
				start := time.Now()
				for _, one := range trace {
					l.of(one.key).AllowN(time.Unix(0, one.instant), 1)
				}
				if took := time.Since(start); took < best {
					best = took
				}
			}
			fmt.Fprintln(out, float64(best.Nanoseconds())/float64(len(trace)))
		case "bytes":
			var count int
			fmt.Sscan(words[1], &count)
			keys := make([]string, count)
			for number := range keys {
				keys[number] = fmt.Sprint("client-", number)
			}
			l := newLimiter(quota, window)
			before := resident()
			for _, key := range keys {
				l.of(key).AllowN(time.Unix(0, trace[0].instant), 1)
			}
			fmt.Fprintln(out, float64(resident()-before)/float64(count))
			if len(l.keys) != count {
				panic("keys are missing")
			}
		}
		out.Flush()
	}
}
