"""Puts Holdfast and django-rest-passwordreset on gunicorn to the same work, and prints a table.

Throughput of reset requests for unknown and known addresses and of validations, 50 concurrent confirms of one token, what the time of an answer tells
(AUC), and what happens when mail can't be sent or the mail server is slow. Both keep their data in SQLite (WAL, synchronous=FULL, as
durable as each other), send mails by SMTP to the same mail server, serve the same number of people, and have their limits
switched off. The load comes from the same machine, over kept connections: from wrk, and for known addresses, each of which is requested once,
from Python.
"""

import argparse
import contextlib
import email
import os
import pathlib
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from measuring import HERE, Connection, Server, auc, mail_server, measure, people, percentile, singly, strangers

CALLERS = 50
OFF = {f"LIMIT_{name}": "off" for name in ["RESET_IP", "RESET_GLOBAL", "RESET_EMAIL", "TOKEN_IP"]}


SCRIPT = HERE / "compare.lua"


class Side:
    def __init__(self, options, folder, mail_port):
        self.options, self.folder, self.mail_port = options, folder, mail_port
        self.mailbox = folder / "mails"

    def tokens(self, addresses):
        """The tokens in the emails that requests for addresses bring."""
        before = set(self.mailbox.glob("*.eml"))
        connection = Connection(self.port)
        for address in addresses:
            connection.post(self.request, {"email": address})
        connection.close()
        deadline = time.monotonic() + 120
        while len(mails := set(self.mailbox.glob("*.eml")) - before) < len(addresses):
            if time.monotonic() > deadline:
                raise RuntimeError(f"only {len(mails)} of {len(addresses)} emails came")
            time.sleep(0.1)
        # The last one may not be written completely.
        time.sleep(0.5)
        texts = [text_of(email.message_from_bytes(mail.read_bytes())) for mail in mails]
        return [found[1] for text in texts if (found := re.search(r"token=([A-Za-z0-9_-]+)", text))]

    def link(self, address):
        """The token in the mail that a request for an address brings."""
        before = len(list(self.mailbox.glob("*.eml")))
        connection = Connection(self.port)
        connection.post(self.request, {"email": address})
        connection.close()
        for _ in range(2_000):
            found = sorted(self.mailbox.glob("*.eml"))[before:]
            for message in map(email.message_from_bytes, (mail.read_bytes() for mail in found)):
                if message["To"] == address and (token := re.search(r"token=([A-Za-z0-9_-]+)", text_of(message))):
                    return token[1]
            time.sleep(0.01)
        raise RuntimeError("no mail came")


def text_of(message):
    return "".join(part.get_payload(decode=True).decode() for part in message.walk() if not part.is_multipart())


class Ours(Side):
    name = "Holdfast"
    request, confirm, validate = "/api/request-password-reset/", "/api/confirm-password-reset/", "/api/validate-reset-token/"

    @contextlib.contextmanager
    def serving(self):
        with Server(self.options.binary, self.folder, OFF, self.mail_port) as server:
            self.known, file = people(self.folder, self.options.people)
            server.run("users", "import", file)
            self.port = server.port
            yield

    def new_password(self, token, password):
        return {"token": token, "new_password": password}


class Peer(Side):
    name = "django-rest-passwordreset"
    request, confirm, validate = "/", "/confirm/", "/validate_token/"

    @contextlib.contextmanager
    def serving(self):
        environment = {
            **os.environ, "PEER_DATABASE": str(self.folder / "peer.sqlite3"), "PEER_MAIL_PORT": str(self.mail_port),
            "PYTHONPATH": str(HERE / "peer"), "PYTHONDONTWRITEBYTECODE": "1", "DJANGO_SETTINGS_MODULE": "settings",
        }
        stem = secrets.token_hex(3)
        self.known = [f"{stem}{number:06d}@example.com" for number in range(self.options.people)]
        setup = (
            "import django; django.setup()\n"
            "from django.contrib.auth.models import User\nfrom django.contrib.auth.hashers import make_password\n"
            "from django.core.management import call_command\ncall_command('migrate', verbosity=0)\n"
            "hash = make_password('old password')\n"
            "User.objects.bulk_create([User(username=f'u{n}', email=f'%s{n:06d}@example.com', password=hash) for n in range(%d)])"
        ) % (stem, self.options.people)
        subprocess.run([sys.executable, "-c", setup], env=environment, check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "gunicorn", "-w", str(self.options.workers), "-k", "gthread", "--threads", "8",
                   "--keep-alive", "60", "-b", f"127.0.0.1:{self.port}", "--log-level", "critical", "wsgi"]
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        try:
            for _ in range(200):
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", self.port)).close()
                    break
                time.sleep(0.1)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()

    def new_password(self, token, password):
        return {"token": token, "password": password}


@contextlib.contextmanager
def serving(kind, options, mail):
    with tempfile.TemporaryDirectory(prefix="holdfast-compare-") as folder:
        folder = pathlib.Path(folder)
        (folder / "mails").mkdir()
        with mail_server(mail, folder / "mails") as port:
            side = kind(options, folder, port)
            with side.serving():
                # The first request of a worker loads what it needs.
                connections = [Connection(side.port) for _ in range(16)]
                for connection in connections:
                    connection.post(side.request, {"email": strangers(1)[0]})
                    connection.close()
                yield side


def rush(side, path, member, lines=None):
    """Responses per second to wrk; how many of them were not 200; and the time in which 95 of 100 came."""
    words = [path, member]
    if lines:
        file = side.folder / f"{member}s"
        file.write_text("\n".join(lines) + "\n")
        words.append(file)
    options = side.options
    command = ["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", "--timeout", "10s", "-s", SCRIPT]
    command += [f"http://127.0.0.1:{side.port}", "--", *words]
    output = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout
    requests, seconds, refused, broken, p95 = map(float, re.search(r"^RESULT (.*)$", output, re.MULTILINE)[1].split())
    failed = refused + broken
    return f"{requests / seconds:,.0f}/s, p95 {p95:.1f} ms" + (f", **{failed:.0f} not 200**" if failed else "")


def throughput(side, addresses, threads=8):
    """Answers per second, over kept connections; how many of them were 200; and the time in which 95 of 100 came."""
    first = Connection(side.port)
    requests = [first.request(side.request, {"email": address}) for address in addresses]
    first.close()
    times, statuses = [], []

    def work(chunk):
        connection = Connection(side.port)
        for request in chunk:
            answer, elapsed = connection.send(request)
            times.append(elapsed)
            statuses.append(answer.status)
        connection.close()

    workers = [threading.Thread(target=work, args=(requests[index::threads],)) for index in range(threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    rate = len(statuses) / (time.perf_counter() - start)
    refused = len(addresses) - statuses.count(200)
    return f"{rate:,.0f}/s, p95 {percentile(times, 0.95) / 1_000:.1f} ms" + (f", **{refused} not 200**" if refused else "")


def race(side, rounds):
    """How many of 50 concurrent confirms of one token succeed, in each round; a caller that is refused for load comes back."""
    wins, errors = [], 0
    for round in range(rounds):
        token = side.link(side.known[-1 - round])
        barrier, statuses = threading.Barrier(CALLERS), []

        def confirm(number):
            connection = Connection(side.port)
            request = connection.request(side.confirm, side.new_password(token, f"zebra crossing {round} {number}"))
            barrier.wait()
            while (status := connection.send(request)[0].status) == 503:
                time.sleep(0.05)
            statuses.append(status)
            connection.close()

        callers = [threading.Thread(target=confirm, args=(number,)) for number in range(CALLERS)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        wins.append(statuses.count(200))
        errors += sum(status >= 500 for status in statuses)
    return f"{min(wins)}–{max(wins)} succeed" + (f", {errors} answers of 500" if errors else "")


def told(side, count):
    """What the time and the status of an answer tell, and how long the slower kind takes."""
    times, answers = measure(side.port, side.request, *[[{"email": address} for address in some] for some in (side.known[:count], strangers(count))])
    area, low, high = auc(*map(singly, times))
    statuses = [",".join(sorted({str(answer.status) for answer in kind.values()})) for kind in answers]
    p95 = [percentile(values, 0.95) / 1_000 for values in times]
    return [" / ".join(statuses), f"{area:.3f} ({low:.3f}–{high:.3f})", f"{p95[0]:,.1f} / {p95[1]:,.1f} ms"]


def rows(kind, options):
    """The column of one side, by label."""
    count = options.people - 20
    cells = {}
    if "throughput" in options.parts:
        with serving(kind, options, "fast") as side:
            tokens = side.tokens(side.known[-20:])
            cells["validations"] = rush(side, side.validate, "token", tokens)
            cells["reset requests, unknown addresses"] = rush(side, side.request, "email")
        with serving(kind, options, "fast") as side:
            cells["reset requests, known addresses, each once"] = throughput(side, side.known)
    if "race" in options.parts:
        with serving(kind, options, "fast") as side:
            cells[f"{CALLERS} concurrent confirms of one token, {options.rounds} rounds"] = race(side, options.rounds)
    for mail, label, number in [("fast", "mail server up", count), ("refused", "mail server down", count), ("slow", "mail server takes 2 s", 30)]:
        if mail in options.parts:
            with serving(kind, options, mail) as side:
                status, area, p95 = told(side, number)
            cells |= {f"{label}: status, known / unknown": status, f"{label}: timing (AUC, {number} each)": area,
                      f"{label}: p95, known / unknown": p95}
    return cells


def main():
    parts = ["throughput", "race", "fast", "refused", "slow"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts, help="what is compared: all, or some of these")
    parser.add_argument("--people", type=int, default=1_020, help="accounts of each side, and addresses that have none (1020)")
    parser.add_argument("--seconds", type=int, default=10, help="how long wrk measures each (10)")
    parser.add_argument("--connections", type=int, default=16, help="of wrk (16: one for each thread of two workers)")
    parser.add_argument("--rounds", type=int, default=20, help="races (20)")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="of gunicorn, with 8 threads each (as many as cores)")
    options = parser.parse_args()
    columns = {}
    for kind in [Ours, Peer]:
        print(f"{kind.name} …", file=sys.stderr, flush=True)
        columns[kind.name] = rows(kind, options)
    print("| | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for label in columns[Ours.name]:
        print("| " + " | ".join([label, *[cells[label] for cells in columns.values()]]) + " |")


main()
