"""All routes of the account server at once for a long time: does its memory grow, do files or rows pile up?"""

import http.client
import json
import math
import os
import pathlib
import sqlite3
import statistics
import threading
import time

from load import resident, token_in

# What a slope must surely be below to count as flat, in MB a minute.
GROWTH = 2.0
PASSWORDS = ["a quiet walk by the sea", "two loud dogs in the yard"]


class Readers(threading.Thread):
    """Those who open their mails: they look at their links, set passwords by some, sign in, and throw the mails away."""

    def __init__(self, server, mailbox):
        super().__init__(daemon=True)
        self.server, self.mailbox, self.ended, self.counts = server, mailbox, threading.Event(), {}

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        while not self.ended.wait(0.2):
            for number, file in enumerate(sorted(self.mailbox.glob("*.eml"))):
                if self.ended.is_set():
                    break
                token = number % 10 == 0 and token_in(file)
                file.unlink()
                if not token:
                    continue
                found = self.post(connection, "/api/validate-reset-token/", {"token": token})
                password = PASSWORDS[number % 2]
                self.post(connection, "/api/confirm-password-reset/", {"token": token, "new_password": password})
                if email := found.get("email"):
                    self.post(connection, "/api/auth/login", {"email": email, "password": password})
        connection.close()

    def post(self, connection, path, body):
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        name = f"{path} {answer.status}"
        self.counts[name] = self.counts.get(name, 0) + 1
        return json.loads(text) if answer.status == 200 else {}


def slope(samples):
    """Megabytes a minute, and the half of the 95 % interval around it, by least squares.

    Neighbouring samples are alike, so they count for fewer than they are: as many as their correlation leaves.
    """
    times, values = [time / 60 for time, _ in samples], [value for _, value in samples]
    middle, mean = statistics.fmean(times), statistics.fmean(values)
    spread = sum((time - middle) ** 2 for time in times)
    rise = sum((time - middle) * (value - mean) for time, value in zip(times, values)) / spread
    rest = [value - mean - rise * (time - middle) for time, value in zip(times, values)]
    variance = sum(error * error for error in rest)
    if variance == 0:
        return rise, 0.0
    correlation = max(0.0, sum(a * b for a, b in zip(rest, rest[1:])) / variance)
    count = max(3.0, len(rest) * (1 - correlation) / (1 + correlation))
    return rise, 1.96 * math.sqrt(variance / (count - 2) / spread * len(rest) / count)


def level(process, seconds):
    """The least memory in a time: what is held besides the 19 MB of each hash that is being made."""
    end, least = time.monotonic() + seconds, math.inf
    while time.monotonic() < end:
        least = min(least, resident(process))
        time.sleep(0.1)
    return least


def rows(database):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30) as connection:
        tables = ["mail_intent", "reset_token", "session", "refresh_token", "rate_limit", "audit_event", "idempotency_key"]
        return [connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in tables]


def soak(load, seconds):
    """Runs, prints a line each ten seconds, the least memory since the one before in it, and tells whether memory was flat in the second half."""
    server, database = load.server, load.folder / "data/holdfast.sqlite3"
    descriptors = pathlib.Path(f"/proc/{server.process.pid}/fd")
    readers = Readers(server, load.folder / "data/mailbox")
    readers.start()
    running = load.others(seconds, 5)
    running["sign-ins"] = load.wrk(seconds, 4, "login", load.known, 200)
    print("| s | memory, MB | descriptors | WAL, MB | intents | links | sessions | refresh tokens | limits | audit | keys |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
    begin, samples = time.monotonic(), []
    step = min(10, seconds / 12)
    while (passed := time.monotonic() - begin) < seconds:
        samples.append((passed, level(server.process, step)))
        log = os.path.getsize(f"{database}-wal") / 1e6
        cells = [f"{passed:.0f}", f"{samples[-1][1]:.1f}", len(list(descriptors.iterdir())), f"{log:.1f}", *rows(database)]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    results = {name: wrk.result() for name, wrk in running.items()}
    readers.ended.set()
    readers.join(timeout=60)
    print("\n| | requests/s | p50, ms | p99 | other than 2xx | broken |\n|---|--:|--:|--:|--:|--:|")
    for name, result in results.items():
        print(f"| {name} | {result['rate']:.0f} | {result['p50']:.1f} | {result['p99']:.1f} | {result['refused']:.0f} | {result['broken']:.0f} |")
    print("\nBeside them: " + ", ".join(f"{name}: {count}" for name, count in sorted(readers.counts.items())))
    rise, half = slope(samples[len(samples) // 2:])
    is_flat = rise + half <= GROWTH
    print(f"\nMemory in the second half: {rise:+.2f} MB a minute (95 %: {rise - half:+.2f} to {rise + half:+.2f}). "
          + ("It is flat." if is_flat else f"It is not surely below {GROWTH} MB a minute: run it for longer."), flush=True)
    return is_flat and not any(result["broken"] for result in results.values())
