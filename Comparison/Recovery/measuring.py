"""What both measurements need: a server of ours, people in it, times of answers, and what they tell."""

import csv
import http.client
import json
import math
import os
import pathlib
import random
import secrets
import signal
import subprocess
import time


class Server:
    """A `holdfast serve` with a data folder of its own."""

    def __init__(self, binary, folder, environment):
        self.folder = pathlib.Path(folder)
        self.binary = binary
        self.environment = {"PATH": os.environ["PATH"], "ENVIRONMENT": "development", "LOG_LEVEL": "critical"} | environment
        self.process = None

    def run(self, *arguments):
        subprocess.run([self.binary, *arguments], cwd=self.folder, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def __enter__(self):
        self.process = subprocess.Popen(
            [self.binary, "serve", "--port", "0"], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )
        self.port = int(self.process.stdout.readline().strip().rsplit(":", 1)[1])
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def people(folder, count, state="active", hashes=None):
    """Imports people, and returns their addresses."""
    stem = secrets.token_hex(3)
    addresses = [f"{stem}{number:06d}@example.com" for number in range(count)]
    with open(folder / f"{stem}.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["email", "first_name", "state", "password_hash"])
        for number, address in enumerate(addresses):
            writer.writerow([address, "Ana", state, hashes[number % len(hashes)] if hashes else ""])
    return addresses, f"{stem}.csv"


def strangers(count):
    stem = secrets.token_hex(3)
    return [f"{stem}{number:06d}@example.com" for number in range(count)]


def measure(port, path, first, second):
    """The times of both kinds of request in microseconds, sent in random order, and the statuses that came."""
    work = [(0, body) for body in first] + [(1, body) for body in second]
    random.shuffle(work)
    times, statuses = ([], []), (set(), set())
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.connect()
    for index, (kind, body) in enumerate(work):
        payload = json.dumps(body).encode()
        start = time.perf_counter_ns()
        connection.request("POST", path, payload, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        elapsed = (time.perf_counter_ns() - start) / 1_000
        statuses[kind].add(answer.status)
        # The first requests of a connection and a process are slower.
        if index >= 20:
            times[kind].append(elapsed)
    connection.close()
    return times, statuses


def auc(first, second):
    """The chance that one of `second` is larger than one of `first`, with its interval."""
    ranked = sorted([(value, 0) for value in first] + [(value, 1) for value in second])
    rank_sum, index = 0.0, 0
    while index < len(ranked):
        end = index
        while end < len(ranked) and ranked[end][0] == ranked[index][0]:
            end += 1
        rank = (index + 1 + end) / 2
        rank_sum += rank * sum(kind for _, kind in ranked[index:end])
        index = end
    n, m = len(first), len(second)
    area = (rank_sum - m * (m + 1) / 2) / (n * m)
    q1, q2 = area / (2 - area), 2 * area * area / (1 + area)
    error = math.sqrt((area * (1 - area) + (m - 1) * (q1 - area**2) + (n - 1) * (q2 - area**2)) / (n * m))
    return area, area - 1.96 * error, area + 1.96 * error


def percentile(values, share):
    return sorted(values)[int(len(values) * share)]
