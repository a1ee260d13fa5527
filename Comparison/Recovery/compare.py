"""Puts Holdfast and django-rest-passwordreset on gunicorn to the same work, and prints a table.

Throughput of reset requests for unknown and known addresses, 50 concurrent confirms of one token, what the time of an answer tells
(AUC), and what happens when mail can't be sent. Two workers each serve; the load comes from the same machine.
"""

import contextlib
import email
import glob
import http.client
import json
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

from measuring import Server, auc, measure, people, strangers

HERE = pathlib.Path(__file__).parent
ROUNDS = int(os.environ.get("ROUNDS", "20"))
COUNT = int(os.environ.get("COUNT", "1020"))
OFF = {f"LIMIT_{name}": "off" for name in ["RESET_IP", "RESET_GLOBAL", "RESET_EMAIL", "TOKEN_IP"]}


class Ours:
    name = "Holdfast"
    request, confirm = "/api/request-password-reset/", "/api/confirm-password-reset/"

    def __init__(self, mail):
        self.mail = mail

    @contextlib.contextmanager
    def serving(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            with Server(sys.argv[1], folder, OFF) as server:
                self.known, file = people(folder, COUNT)
                server.run("users", "import", file)
                self.mailbox = folder / "data/mailbox"
                if self.mail == "refused":
                    self.mailbox.rmdir()
                    self.mailbox.write_text("")
                self.port = server.port
                yield

    def link(self, address):
        before = len(list(self.mailbox.glob("*.eml")))
        post(self.port, self.request, {"email": address})
        return wait_for_token(lambda: sorted(self.mailbox.glob("*.eml")), before)

    def new_password(self, token, password):
        return {"token": token, "new_password": password}


class Peer:
    name = "django-rest-passwordreset"
    request, confirm = "/", "/confirm/"

    def __init__(self, mail):
        self.mail = mail

    @contextlib.contextmanager
    def serving(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            self.mailbox = folder / "mailbox"
            environment = {
                **os.environ, "PEER_DATABASE": str(folder / "peer.sqlite3"), "PEER_MAILBOX": str(self.mailbox), "PEER_MAIL": self.mail,
                "PYTHONPATH": str(HERE / "peer"), "DJANGO_SETTINGS_MODULE": "settings",
            }
            stem = secrets.token_hex(3)
            self.known = [f"{stem}{number:06d}@example.com" for number in range(COUNT)]
            setup = (
                "import django; django.setup()\n"
                "from django.contrib.auth.models import User\nfrom django.contrib.auth.hashers import make_password\n"
                "from django.core.management import call_command\ncall_command('migrate', verbosity=0)\n"
                "from django.db import connection\nconnection.cursor().execute('PRAGMA journal_mode=WAL')\n"
                "hash = make_password('old password')\n"
                f"User.objects.bulk_create([User(username=f'u{{n}}', email=f'{stem}{{n:06d}}@example.com', password=hash) for n in range({COUNT})])"
            )
            subprocess.run([sys.executable, "-c", setup], env=environment, check=True)
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
            command = [sys.executable, "-m", "gunicorn", "-w", "2", "-k", "gthread", "--threads", "8", "--keep-alive", "60",
                       "-b", f"127.0.0.1:{self.port}", "--log-level", "critical", "wsgi"]
            process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
            try:
                for _ in range(100):
                    with contextlib.suppress(OSError):
                        socket.create_connection(("127.0.0.1", self.port)).close()
                        break
                    time.sleep(0.1)
                yield
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait()

    def link(self, address):
        before = len(glob.glob(f"{self.mailbox}/*"))
        post(self.port, self.request, {"email": address})
        return wait_for_token(lambda: sorted(map(pathlib.Path, glob.glob(f"{self.mailbox}/*")), key=os.path.getmtime), before)

    def new_password(self, token, password):
        return {"token": token, "password": password}


def post(port, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def wait_for_token(mails, before):
    for _ in range(2_000):
        found = mails()
        if len(found) > before:

            message = email.message_from_bytes(found[-1].read_bytes())
            parts = [part.get_payload(decode=True).decode() for part in message.walk() if not part.is_multipart()]
            if token := re.search(r"token=([A-Za-z0-9_-]+)", "".join(parts)):
                return token[1]
        time.sleep(0.01)
    raise RuntimeError("no mail came")


def throughput(side, addresses, threads=8):
    """Answers per second, over kept connections."""
    chunks = [addresses[index::threads] for index in range(threads)]

    def work(chunk):
        connection = http.client.HTTPConnection("127.0.0.1", side.port, timeout=120)
        for address in chunk:
            connection.request("POST", side.request, json.dumps({"email": address}), {"Content-Type": "application/json"})
            connection.getresponse().read()

    workers = [threading.Thread(target=work, args=(chunk,)) for chunk in chunks]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return len(addresses) / (time.perf_counter() - start)


def race(side):
    """How many of 50 concurrent confirms of one token succeed, in each round."""
    wins = []
    for round in range(ROUNDS):
        token = side.link(side.known[round])
        barrier, statuses = threading.Barrier(50), []

        def confirm(number):
            barrier.wait()
            while (status := post(side.port, side.confirm, side.new_password(token, f"zebra crossing {round} {number}"))) == 503:
                time.sleep(0.05)
            statuses.append(status)

        callers = [threading.Thread(target=confirm, args=(number,)) for number in range(50)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        wins.append(statuses.count(200))
    return wins


def oracle(side):
    times, statuses = measure(side.port, side.request, [{"email": a} for a in side.known], [{"email": a} for a in strangers(COUNT)])
    return auc(*times), statuses


def row(label, cells):
    print("| " + " | ".join([label, *cells]) + " |", flush=True)


def main():
    columns = {}
    for make in [Ours, Peer]:
        cells = []
        side = make("fast")
        with side.serving():
            cells.append(f"{throughput(side, strangers(4_000)):,.0f}/s")
            cells.append(f"{throughput(side, side.known):,.0f}/s")
            (area, low, high), _ = oracle(side)
            cells.append(f"{area:.3f} ({low:.3f}–{high:.3f})")
            wins = race(side)
            cells.append(f"{min(wins)}–{max(wins)} of 50 succeed")
        side = make("refused")
        with side.serving():
            (area, low, high), statuses = oracle(side)
            cells.append(" / ".join(",".join(map(str, sorted(codes))) for codes in statuses))
            cells.append(f"{area:.3f} ({low:.3f}–{high:.3f})")
        columns[make.name] = cells
    labels = [
        "reset requests, unknown addresses", "reset requests, known addresses", "known or unknown, told by the time (AUC)",
        f"50 concurrent confirms of one token, {ROUNDS} rounds", "mail can't be sent: status for known / unknown",
        "mail can't be sent: told by the time (AUC)",
    ]
    row("", list(columns))
    print("|---|" + "---|" * len(columns))
    for index, label in enumerate(labels):
        row(label, [cells[index] for cells in columns.values()])


main()
