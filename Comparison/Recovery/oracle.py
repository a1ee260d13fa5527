"""Measures whether the time of an answer tells if there is an account, or what a link is.

For each pair of requests, both are sent in random order over one kept connection, and the AUC is the chance that a request of one kind
took longer than one of the other: 0.5 tells nothing, 1.0 tells all. The interval is of 95 % (Hanley and McNeil, 1982).
"""

import argparse
import hashlib
import http.client
import json
import pathlib
import secrets
import sqlite3
import tempfile
import time
import uuid

from measuring import Server, auc, measure, people, percentile, strangers


def links(database, count, kind):
    """Puts reset links of one kind into the database, and returns their tokens."""
    tokens = [secrets.token_urlsafe(32) for _ in range(count)]
    now = time.time()
    with sqlite3.connect(database, timeout=30) as connection:
        account, key = connection.execute("SELECT id, email_key FROM account LIMIT 1").fetchone()
        for token in tokens:
            expires = now - 60 if kind == "expired" else now + 86_400
            used = now - 30 if kind == "used" else None
            connection.execute(
                "INSERT INTO reset_token (digest, account_id, email_key, created_at, expires_at, consumed_at) VALUES (?, ?, ?, ?, ?, ?)",
                (hashlib.sha256(token.encode()).digest(), account, key, now - 3_700, expires, used),
            )
    return tokens


def report(name, port, path, first, second):
    times, statuses = measure(port, path, first, second)
    area, low, high = auc(*times)
    p95 = [percentile(values, 0.95) / 1_000 for values in times]
    told = "/".join(",".join(map(str, sorted(codes))) for codes in statuses)
    verdict = "tells nothing" if low <= 0.5 <= high else "0.48–0.52" if 0.48 <= area <= 0.52 else "TELLS"
    print(f"| {name} | {min(map(len, times))} | {told} | {area:.3f} ({low:.3f}–{high:.3f}) | {p95[0]:.2f} / {p95[1]:.2f} ms | {verdict} |",
          flush=True)


def emails(addresses):
    return [{"email": address} for address in addresses]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("-n", type=int, default=1_000, help="requests of each kind (1000)")
    parser.add_argument("--mail", choices=["fast", "refused"], default="fast", help="the mailbox takes mails, or can't be written")
    parser.add_argument("--only", default="", help="pairs whose name has this text")
    options = parser.parse_args()
    count = options.n + 20
    off = {f"LIMIT_{name}": "off" for name in ["RESET_IP", "RESET_GLOBAL", "RESET_EMAIL", "LOGIN_ACCOUNT", "LOGIN_IP", "TOKEN_IP"]}
    print(f"| pair ({options.mail} mail) | n each | statuses | AUC (95 %) | p95 | |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="holdfast-oracle-") as folder:
        folder = pathlib.Path(folder)
        with Server(options.binary, folder, off) as server:
            server.run("users", "import", (made := people(folder, count))[1])
            known = made[0]
            server.run("users", "import", (made := people(folder, count, "suspended"))[1])
            suspended = made[0]
            database = folder / "data/holdfast.sqlite3"
            if options.mail == "refused":
                mailbox = folder / "data/mailbox"
                mailbox.rmdir()
                mailbox.write_text("")

            def wants(name):
                return options.only in name

            path = "/api/request-password-reset/"
            if wants("request: known, unknown"):
                report("request: known, unknown", server.port, path, emails(known), emails(strangers(count)))
            if wants("request: known, suspended"):
                report("request: known, suspended", server.port, path, emails(known), emails(suspended))
            native = own_hash(server, folder)
            server.run("users", "import", (made := people(folder, count, hashes=[native]))[1])
            if wants("login: wrong password, unknown"):
                pair = [[{"email": address, "password": "wrong password"} for address in some] for some in (made[0], strangers(count))]
                report("login: wrong password, unknown", server.port, "/api/auth/login", *pair)
            for route in ["validate-reset-token", "confirm-password-reset"]:
                for kind in ["expired", "used"]:
                    name = f"{route.split('-')[0]}: unknown, {kind} link"
                    if not wants(name):
                        continue
                    def bodies(tokens):
                        extra = {} if route.startswith("validate") else {"new_password": "another good password"}
                        return [{"token": token} | extra for token in tokens]
                    unknown = [secrets.token_urlsafe(32) for _ in range(count)]
                    report(name, server.port, f"/api/{route}/", bodies(unknown), bodies(links(database, count, kind)))
    if "request: limited".startswith(options.only) or options.only in "request: limited known, limited unknown":
        with tempfile.TemporaryDirectory(prefix="holdfast-oracle-") as folder:
            folder = pathlib.Path(folder)
            with Server(options.binary, folder, off | {"LIMIT_RESET_EMAIL": "1/86400"}) as server:
                server.run("users", "import", (made := people(folder, count))[1])
                known, unknown = made[0], strangers(count)
                measure(server.port, path, emails(known), emails(unknown))
                report("request: limited known, limited unknown", server.port, path, emails(known), emails(unknown))
    if options.only in "login: imported, unknown":
        imported_pair(options, count, off)


def own_hash(server, folder):
    """A hash of our own, of an account that is registered for it."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    body = {"email": f"{uuid.uuid4().hex}@example.com", "password": "a good password of its own", "first_name": "Ana"}
    connection.request("POST", "/api/auth/register", json.dumps(body), {"Content-Type": "application/json"})
    assert connection.getresponse().status == 201
    with sqlite3.connect(folder / "data/holdfast.sqlite3") as connection:
        return connection.execute("SELECT password_hash FROM account WHERE email_key = ?", (body["email"],)).fetchone()[0]


def imported_pair(options, count, off):
    """Half of the accounts have a hash of Django (cheap, to save time; slower than our own all the same), half our own."""
    with tempfile.TemporaryDirectory(prefix="holdfast-oracle-") as folder:
        folder = pathlib.Path(folder)
        with Server(options.binary, folder, off) as server:
            hashes = [own_hash(server, folder), "pbkdf2_sha256$150000$decoysalt$" + "A" * 43 + "="]
            server.run("users", "import", (made := people(folder, count, hashes=hashes))[1])
        # Started anew: the decoys follow the accounts.
        with Server(options.binary, folder, off) as server:
            time.sleep(2)
            pair = [[{"email": address, "password": "wrong password"} for address in some] for some in (made[0], strangers(count))]
            report("login: half imported, unknown", server.port, "/api/auth/login", *pair)


main()
