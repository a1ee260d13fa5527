"""What both measurements need: a server of ours, its mail server, people in it, times of answers, and what they tell."""

import contextlib
import csv
import dataclasses
import json
import math
import os
import pathlib
import random
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from bisect import bisect_left, bisect_right

HERE = pathlib.Path(__file__).parent
# What differs between any two answers, and what follows a clock.
PASSING = re.compile(rb"^(date|x-request-id):[^\r]*\r\n", re.IGNORECASE | re.MULTILINE)
TIMESTAMP = re.compile(rb'(?<="timestamp":")[^"]*')


class Server:
    """A `holdfast serve` with a data folder of its own, whose mails go to the mail server at a port, or into its mailbox folder."""

    def __init__(self, binary, folder, environment, mail_port=None):
        self.folder = pathlib.Path(folder)
        self.binary = binary
        mail = {"EMAIL_HOST": "127.0.0.1", "EMAIL_PORT": str(mail_port), "EMAIL_FROM": "no-reply@example.com"} if mail_port else {}
        self.environment = {
            "PATH": os.environ["PATH"], "ENVIRONMENT": "development", "LOG_LEVEL": "critical",
        } | mail | environment
        self.process = None

    def run(self, *arguments):
        subprocess.run([self.binary, *arguments], cwd=self.folder, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def __enter__(self):
        self.process = subprocess.Popen(
            [self.binary, "serve", "--create", "--port", "0"], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )
        self.port = int(self.process.stdout.readline().strip().rsplit(":", 1)[1])
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def processor_seconds(pid):
    """The processor time of a process so far, user and system."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def mail_server(kind, folder=None):
    """The port of a mail server that is fast, slow (2 s for each mail) or refused (nobody listens)."""
    if kind == "refused":
        # Bound and not listening: nobody else can come to listen there meanwhile.
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            yield closed.getsockname()[1]
        return
    command = [sys.executable, HERE / "mail_server.py", "--delay", "2" if kind == "slow" else "0"]
    process = subprocess.Popen(command + (["--folder", folder] if folder else []), stdout=subprocess.PIPE, text=True)
    try:
        yield int(process.stdout.readline())
    finally:
        process.terminate()
        process.wait()


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


@dataclasses.dataclass
class Answer:
    status: int
    head: bytes
    body: bytes

    def comparable(self):
        """All bytes of it but the time and the request's id."""
        found = re.search(rb"^x-request-id: *([^\r]+)", self.head, re.IGNORECASE | re.MULTILINE)
        whole = PASSING.sub(b"", self.head) + TIMESTAMP.sub(b"", self.body)
        return whole.replace(found[1], b"ID") if found else whole


class Connection:
    """A kept connection that costs its client as little as can be."""

    def __init__(self, port, token=None):
        """`token` is sent with every request as `Authorization: Bearer`."""
        self.host = f"127.0.0.1:{port}".encode()
        self.fields = f"Authorization: Bearer {token}\r\n".encode() if token else b""
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def request(self, path, body):
        payload = json.dumps(body).encode()
        head = b"POST %s HTTP/1.1\r\nHost: %s\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        return head % (path.encode(), self.host, self.fields, len(payload)) + payload

    def send(self, request):
        """The answer to a request, and the microseconds until its last byte."""
        start = time.perf_counter_ns()
        self.socket.sendall(request)
        while (end := self.buffer.find(b"\r\n\r\n")) < 0:
            self.receive()
        head, rest = self.buffer[:end], end + 4
        size = re.search(rb"^content-length: *(\d+)", head, re.IGNORECASE | re.MULTILINE)
        if re.search(rb"^transfer-encoding: *chunked", head, re.IGNORECASE | re.MULTILINE):
            # Read to its last chunk, and left as it came.
            while (last := self.buffer.find(b"0\r\n\r\n", rest)) < 0:
                self.receive()
            whole = last + 5
        else:
            whole = rest + (int(size[1]) if size else 0)
            while len(self.buffer) < whole:
                self.receive()
        elapsed = (time.perf_counter_ns() - start) / 1_000
        body, self.buffer = self.buffer[rest:whole], self.buffer[whole:]
        return Answer(int(head.split(b" ", 2)[1]), head + b"\r\n", body), elapsed

    def receive(self):
        if not (more := self.socket.recv(65_536)):
            raise ConnectionError("the server has closed the connection")
        self.buffer += more

    def post(self, path, body):
        return self.send(self.request(path, body))[0]

    def close(self):
        self.socket.close()


def measure(port, path, first, second, token=None):
    """The times of both kinds of request in microseconds, sent in random order, and the answers that came, each counted."""
    connection = Connection(port, token)
    work = [(0, connection.request(path, body)) for body in first] + [(1, connection.request(path, body)) for body in second]
    random.shuffle(work)
    times, answers = ([], []), ({}, {})
    for index, (kind, request) in enumerate(work):
        answer, elapsed = connection.send(request)
        answers[kind].setdefault(answer.comparable(), answer)
        # The first requests of a connection and a process are slower.
        if index >= 20:
            times[kind].append(elapsed)
    connection.close()
    return times, answers


def auc(first, second):
    """The chance that one of `second` is larger than one of `first`, with its interval of 95 %.

    Both are lists of groups of values; values of one group need not be independent of each other (DeLong 1988, Obuchowski 1997).
    """
    flat = [[value for group in kind for value in group] for kind in (first, second)]
    ordered = [sorted(values) for values in flat]

    def placements(groups, others):
        return [[(bisect_left(others, value) + bisect_right(others, value)) / 2 / len(others) for value in group] for group in groups]

    below = placements(second, ordered[0])
    above = [[1 - place for place in group] for group in placements(first, ordered[1])]
    area = sum(map(sum, below)) / len(flat[1])
    variance = sum(
        len(groups) / max(len(groups) - 1, 1) * sum(sum(place - area for place in group) ** 2 for group in groups) / sum(map(len, groups)) ** 2
        for groups in (below, above)
    )
    return area, area - 1.96 * math.sqrt(variance), area + 1.96 * math.sqrt(variance)


def singly(values):
    """Values that are independent of each other, as groups."""
    return [[value] for value in values]


def percentile(values, share):
    return sorted(values)[int(len(values) * share)]
