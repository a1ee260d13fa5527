"""Runs limits or slowapi, both from PyPI, for compare.py. usage: runner.py fixed|moving|counter|slowapi"""

import logging
import sys
import time

import limits
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter, SlidingWindowCounterRateLimiter

NOW = time.time()
REAL = time.perf_counter
STRATEGIES = {
    "fixed": FixedWindowRateLimiter,
    "moving": MovingWindowRateLimiter,
    "counter": SlidingWindowCounterRateLimiter,
}

# The fake clock: both libraries read the time only from this function.
time.time = lambda: NOW


class Limits:
    """The library, as its documentation uses it."""

    def __init__(self, quota, window):
        self.limiter = STRATEGIES[sys.argv[1]](MemoryStorage())
        self.item = limits.RateLimitItemPerSecond(quota, window // 1_000_000_000)

    def ask(self, key):
        return self.limiter.hit(self.item, key)

    def wait(self, key):
        return int((self.limiter.get_window_stats(self.item, key).reset_time - NOW) * 1e9)


class SlowAPI:
    """The work of its decorator for a request, including the headers of the response."""

    def __init__(self, quota, window):
        import slowapi
        import slowapi.util
        from slowapi.errors import RateLimitExceeded
        from starlette.requests import Request
        from starlette.responses import Response

        logging.getLogger("slowapi").setLevel(logging.CRITICAL)
        self.types = (Request, Response, RateLimitExceeded)
        self.limiter = slowapi.Limiter(key_func=slowapi.util.get_remote_address, headers_enabled=True)
        self.endpoint = self.limiter.limit(f"{quota} per {window // 1_000_000_000} seconds")(endpoint)

    def ask(self, key):
        request_type, _, exceeded = self.types
        scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "client": (key, 1), "query_string": b""}
        self.request = request_type(scope)
        try:
            self.limiter._check_request_limit(self.request, endpoint, False)
            return True
        except exceeded:
            return False

    def wait(self, key):
        response = self.limiter._inject_headers(self.types[1](), self.request.state.view_rate_limit)
        return int(response.headers["Retry-After"]) * 1_000_000_000


def endpoint(request):
    """The route that is limited."""


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4_096


def main():
    global NOW
    make = SlowAPI if sys.argv[1] == "slowapi" else Limits
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "init":
            quota, window = int(arguments[0]), int(arguments[1])
            with open(arguments[2]) as file:
                trace = [(int(instant), key) for instant, key in map(str.split, file)]
            print("ok", flush=True)
        elif command == "run":
            limiter, answers = make(quota, window), []
            for instant, key in trace:
                NOW = instant / 1e9
                answers.append("1" if limiter.ask(key) else f"0 {limiter.wait(key)}")
            print("\n".join(answers), flush=True)
        elif command == "probe":
            limiter, number = make(quota, window), int(arguments[0])
            key = trace[number][1]
            for instant, other in trace[: number + 1]:
                NOW = instant / 1e9
                if other == key:
                    limiter.ask(key)
            NOW = int(arguments[1]) / 1e9
            print(1 if limiter.ask(key) else 0, flush=True)
        elif command == "time":
            best = float("inf")
            for _ in range(3):
                limiter = make(quota, window)
                start = REAL()
                for instant, key in trace:
                    NOW = instant / 1e9
                    limiter.ask(key)
                best = min(best, (REAL() - start) / len(trace))
            print(best * 1e9, flush=True)
        elif command == "bytes":
            limiter, count = make(quota, window), int(arguments[0])
            limiter.ask("first")
            keys = [f"client-{number}" for number in range(count)]
            before = resident()
            for key in keys:
                limiter.ask(key)
            print((resident() - before) / count, flush=True)


main()
