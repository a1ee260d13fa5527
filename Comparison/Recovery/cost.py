"""Counts the instructions that requests to the account server take, by callgrind: of all threads, and of the threads apart.

One connection sends one request after the other to `holdfast serve` on fresh data, with a log line for each request and limits that refuse nothing.
Prints Markdown.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import time

from load import ENVIRONMENT, ask_for_links, post
from measuring import Connection, Server, people

ROUTES = ["live", "me", "validate", "invalid", "reset", "refresh"]
PRELOADED = pathlib.Path(__file__).parents[2] / "scripts/sigsuspend.c"
# What the server does in the meantime, such as saving limits, is not counted as a thread of requests.
LEAST = 500


class WatchedServer(Server):
    """A server under callgrind."""

    def __init__(self, binary, folder, environment, profiles):
        super().__init__(binary, folder, environment)
        self.profiles = profiles
        # Valgrind does not read the debug information of a Swift program.
        self.stripped, preloaded = folder / "stripped", folder / "sigsuspend.so"
        subprocess.run(["strip", "-g", "-o", self.stripped, binary], check=True)
        subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", preloaded, PRELOADED], check=True)
        self.preloaded = {"LD_PRELOAD": str(preloaded)}

    def __enter__(self):
        command = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={self.profiles}/profile", self.stripped]
        self.process = subprocess.Popen(
            [*command, "serve", "--create", "--port", "0"], cwd=self.folder, env=self.environment | self.preloaded, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )
        self.port = int(self.process.stdout.readline().strip().rsplit(":", 1)[1])
        return self

    def control(self, what):
        subprocess.run(["callgrind_control", what, str(self.process.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


class Requests:
    """What is sent to each route."""

    def __init__(self, server, folder, routes):
        known, file = people(folder, 100)
        server.run("users", "import", file)
        self.tokens = ask_for_links(server, folder, known[-20:]) if {"validate", "invalid"} & set(routes) else []
        pair = post(server, "/api/auth/register", {"email": "ana@example.com", "password": "a quiet walk by the sea", "first_name": "Ana"})
        self.access, self.refresh = pair["access_token"], pair["refresh_token"]
        self.connection, self.count = Connection(server.port), 0

    def get(self, path, field=""):
        head = f"GET {path} HTTP/1.1\r\nHost: {self.connection.host.decode()}\r\n{field}\r\n"
        return self.connection.send(head.encode())[0]

    def send(self, route):
        self.count += 1
        expected = 200
        if route == "live":
            answer = self.get("/health/live")
        elif route == "me":
            answer = self.get("/api/auth/me", f"Authorization: Bearer {self.access}\r\n")
        elif route in ("validate", "invalid"):
            token = self.tokens[self.count % len(self.tokens)]
            if route == "invalid":
                token, expected = token[::-1], 400
            answer = self.connection.post("/api/validate-reset-token/", {"token": token})
        elif route == "reset":
            answer = self.connection.post("/api/request-password-reset/", {"email": f"s{self.count:06d}@example.org"})
        else:
            answer = self.connection.post("/api/auth/refresh", {"refresh_token": self.refresh})
            self.refresh = json.loads(answer.body)["refresh_token"]
        if answer.status != expected:
            raise SystemExit(f"{route}: {answer.status} instead of {expected}")


def measure(server, requests, route, count):
    """The instructions per request of each thread, largest first."""
    for _ in range(100):
        requests.send(route)
    time.sleep(0.5)
    for file in server.profiles.glob("profile.*"):
        file.unlink()
    server.control("--zero")
    for _ in range(count):
        requests.send(route)
    server.control("--dump")
    time.sleep(0.5)
    threads = []
    for file in server.profiles.glob("profile.*"):
        if found := re.search(r"^(?:totals|summary): (\d+)", file.read_text(errors="replace"), re.MULTILINE):
            threads.append((int(found[1]) / count, file))
    threads.sort(reverse=True)
    for place, (_, file) in enumerate(threads[:8]):
        file.replace(server.profiles / f"{route}-{place}")
    return [instructions for instructions, _ in threads]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help=argparse.SUPPRESS)
    parser.add_argument("routes", nargs="*", help=f"{', '.join(ROUTES)}; all if none is named")
    parser.add_argument("--count", type=int, default=400, help="requests that are counted of each route (400)")
    parser.add_argument("--folder", type=pathlib.Path, help="where the profiles stay, by route and thread")
    options = parser.parse_args()
    if unknown := set(options.routes) - set(ROUTES):
        parser.error(f"no route is called {', '.join(sorted(unknown))}; there are {', '.join(ROUTES)}")
    routes = options.routes or ROUTES
    with tempfile.TemporaryDirectory(prefix="holdfast-cost-") as folder:
        folder = pathlib.Path(folder)
        profiles = (options.folder or folder / "profiles").absolute()
        profiles.mkdir(parents=True, exist_ok=True)
        with WatchedServer(options.binary, folder, ENVIRONMENT, profiles) as server:
            requests = Requests(server, folder, routes)
            print("| route | instructions per request | of them on the thread with most |\n|---|--:|--:|")
            for route in routes:
                threads = measure(server, requests, route, options.count)
                print(f"| {route} | {sum(x for x in threads if x > LEAST):,.0f} | {threads[0]:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
