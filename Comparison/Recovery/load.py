"""Measures the account server under load: throughput and times of its routes, what a rush of sign-ins does to them, start and memory.

The load is made by wrk, on the same machine. The server is a release `holdfast serve` on fresh data, durable, with its mail worker and
the mailbox folder; its limits are on, and so high that they refuse nothing. Prints Markdown.
"""

import argparse
import email
import email.policy
import json
import os
import pathlib
import re
import secrets
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request

from measuring import Server, people, processor_seconds

SCRIPT = pathlib.Path(__file__).with_name("load.lua")
LIMITS = [
    "RESET_EMAIL", "RESET_IP", "RESET_GLOBAL", "LOGIN_ACCOUNT", "LOGIN_FAILURES", "LOGIN_DEVICE", "LOGIN_IP", "REFRESH_IP", "REGISTER_IP",
    "TOKEN_IP",
]
# All requests come from one client.
ENVIRONMENT = {f"LIMIT_{name}": "1000000/1" for name in LIMITS} | {
    "MAX_CONNECTIONS_PER_CLIENT": "4096",
    "ENVIRONMENT": "production", "PASSWORD_RESET_BASE_URL": "https://app.example.com", "LOG_LEVEL": "info",
}
PARTS = ["start", "reset", "validate", "me", "refresh", "mixed", "hammer"]


class Wrk:
    """One wrk at work; `result()` waits for its end."""

    def __init__(self, server, seconds, connections, kind, file, pause=0):
        url = f"http://127.0.0.1:{server.port}"
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", SCRIPT, url, "--", kind, file, str(pause)]
        self.served, self.before = server.process.pid, processor_seconds(server.process.pid)
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)

    def result(self):
        output = self.process.communicate()[0]
        spent = processor_seconds(self.served) - self.before
        words = re.search(r"^RESULT (.*)$", output, re.MULTILINE)[1].split()
        keys = ["requests", "seconds", "refused", "broken", "p50", "p99", "p999", "max", "hashed"]
        result = dict(zip(keys, map(float, words)))
        result["rate"] = result["requests"] / result["seconds"]
        result["cpu"] = 1e6 * spent / max(result["requests"], 1)
        return result


class Memory(threading.Thread):
    """The most resident memory that a process had while this ran, in MB."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.most, self.ended = process, 0.0, threading.Event()

    def run(self):
        while not self.ended.wait(0.2):
            self.most = max(self.most, resident(self.process))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def resident(process):
    """Resident memory in MB."""
    pages = int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def post(server, path, body):
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def token_in(file):
    """The token in the link of a mail."""
    message = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
    found = re.search(r"token=([A-Za-z0-9_-]{43})", message.get_body(("plain",)).get_content())
    return found and found[1]


def write_lines(folder, name, lines):
    file = folder / name
    file.write_text("\n".join(lines) + "\n")
    return file


def ask_for_links(server, folder, addresses):
    """Asks for links for these addresses, and reads them from the mailbox."""
    mailbox = folder / "data/mailbox"
    before = set(mailbox.glob("*.eml"))
    for address in addresses:
        post(server, "/api/request-password-reset/", {"email": address})
    deadline = time.monotonic() + 60
    while len(mails := set(mailbox.glob("*.eml")) - before) < len(addresses):
        if time.monotonic() > deadline:
            raise SystemExit(f"only {len(mails)} of {len(addresses)} mails came within a minute")
        time.sleep(0.2)
    return [token for token in map(token_in, sorted(mails)) if token]


def row(name, result, target="", note="", is_alone=False):
    cpu = f"{result['cpu']:.0f}" if is_alone else ""
    print(f"| {name} | {target} | {result['rate']:,.0f} | {cpu} | {result['p50']:.1f} | {result['p99']:.1f} | {result['p999']:.1f} "
          f"| {result['refused']:.0f} | {result['broken']:.0f} | {note} |", flush=True)


def head():
    print("\n| | target | requests/s | CPU of the server, µs per request | p50, ms | p99 | p99.9 | other than 2xx | broken | |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|---|", flush=True)


def start(binary, folder):
    """The time from the command to the first line and the first answer, and the memory of a server that has nothing to do."""
    lines, answers, memories = [], [], []
    for attempt in range(5):
        fresh = folder / f"start-{attempt}"
        fresh.mkdir()
        begin = time.monotonic()
        with Server(binary, fresh, ENVIRONMENT) as server:
            lines.append(time.monotonic() - begin)
            urllib.request.urlopen(f"http://127.0.0.1:{server.port}/health/ready", timeout=5).read()
            answers.append(time.monotonic() - begin)
            time.sleep(3)
            memories.append(resident(server.process))
    print(f"\nStart on an empty folder, median of 5: first line after {statistics.median(lines):.3f} s, first answer after "
          f"{statistics.median(answers):.3f} s (target 0.3). Idle: {statistics.median(memories):.1f} MB (target 60).", flush=True)


class Load:
    """A server with people in it, and what it is asked."""

    def __init__(self, server, folder, count, links):
        self.server, self.folder = server, folder
        known, file = people(folder, count)
        server.run("users", "import", file)
        self.known = write_lines(folder, "known", known)
        tokens = ask_for_links(server, folder, known[-links:])
        self.tokens = write_lines(folder, "tokens", tokens)
        invalid = [token[::-1] for token in tokens]
        self.mixed_tokens = write_lines(folder, "mixed-tokens", [token for pair in zip(tokens, invalid) for token in pair])

    def wrk(self, seconds, connections, kind, file, pause=0):
        return Wrk(self.server, seconds, connections, kind, file, pause)

    def sessions(self, count):
        """Files of the access and refresh tokens of sessions of one new account."""
        person = {"email": f"{secrets.token_hex(6)}@example.com", "password": "a quiet walk by the sea", "first_name": "Ana"}
        pairs = [post(self.server, "/api/auth/register", person)]
        while len(pairs) < count:
            pairs.append(post(self.server, "/api/auth/login", person))
        return [write_lines(self.folder, name, [pair[name] for pair in pairs]) for name in ("access_token", "refresh_token")]

    def others(self, seconds, pause):
        """Each route that hashes nothing, by one connection with pauses."""
        access, refresh = self.sessions(1)
        page = "/reset-password?token=" + self.tokens.read_text().split()[0]
        work = {
            "me": ("me", access), "refresh": ("refresh", refresh), "validate": ("validate", self.tokens),
            "reset request": ("reset", self.known), "health": ("get", "/health/ready"), "page": ("get", page),
            "errors": ("get", "/errors"),
        }
        return {name: self.wrk(seconds, 1, kind, file, pause) for name, (kind, file) in work.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help=argparse.SUPPRESS)
    parser.add_argument("parts", nargs="*", help=f"what to measure: {', '.join(PARTS)}; all if none is named")
    parser.add_argument("--seconds", type=int, default=10, help="how long each is measured (10)")
    parser.add_argument("--connections", type=int, default=64, help="of the load generator (64)")
    parser.add_argument("--people", type=int, default=100_000, help="accounts that are imported (100000)")
    parser.add_argument("--links", type=int, default=1_000, help="links that are looked at in turn (1000)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the server, such as LIMIT_RESET_EMAIL=60/3600")
    parser.add_argument("--soak", type=int, metavar="SECONDS", help="instead: so long of everything at once; fails if memory grows")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part is called {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    parts = options.parts or PARTS
    with tempfile.TemporaryDirectory(prefix="holdfast-load-") as folder:
        folder = pathlib.Path(folder)
        if "start" in parts and not options.soak:
            start(options.binary, folder)
        if not options.soak and parts == ["start"]:
            return
        settings = ENVIRONMENT | dict(setting.split("=", 1) for setting in options.set)
        with Server(options.binary, folder, settings) as server:
            load = Load(server, folder, options.people, options.links)
            if options.soak:
                from soak import soak
                raise SystemExit(0 if soak(load, options.soak) else 1)
            measure(load, parts, options)


def measure(load, parts, options):
    seconds, connections, server = options.seconds, options.connections, load.server

    def alone(name, kind, file, target=""):
        row(name, load.wrk(seconds, connections, kind, file).result(), target, is_alone=True)

    with Memory(server.process) as memory:
        head()
        load.wrk(2, connections, "validate", load.tokens).result()
        if "validate" in parts:
            alone("validate", "validate", load.tokens, "12,000/s, 25 ms")
            alone("validate, every second token invalid", "validate", load.mixed_tokens)
        if "reset" in parts:
            alone("reset request, known and unknown in turn", "reset", load.known, "8,000/s, 25 ms")
        if {"me", "refresh"} & set(parts):
            access, refresh = load.sessions(2 * connections)
            if "me" in parts:
                alone("me", "me", access)
            if "refresh" in parts:
                alone("refresh", "refresh", refresh)
        if "mixed" in parts:
            for name, wrk in load.others(seconds, 10).items():
                row(f"{name}, all these at once", wrk.result())
        if "hammer" in parts:
            running = load.others(seconds, 10)
            logins = load.wrk(seconds, 200, "login", load.known)
            others = {name: wrk.result() for name, wrk in running.items()}
            result = logins.result()
            row("sign-ins, 200 at once", result, note=f"{result['hashed'] / result['seconds']:.0f}/s hashed")
            for name, result in others.items():
                row(f"{name}, meanwhile", result, "p99 50 ms")
    print(f"\nMost resident memory: {memory.most:.0f} MB (target 400).")


if __name__ == "__main__":
    main()
