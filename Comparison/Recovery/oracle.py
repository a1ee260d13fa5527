"""Measures whether an answer tells if there is an account, or what a link is: by its time, or by its bytes.

For each pair of requests, both are sent in random order over one kept connection, and the AUC is the chance that a request of the second
kind took longer than one of the first: 0.5 tells nothing, 1.0 tells all. The interval is of 95 %. Bytes are compared without the time
and the request's id. Ends with 1 where an interval leaves 0.45 to 0.55 or where bytes differ.
"""

import argparse
import contextlib
import hashlib
import json
import pathlib
import random
import re
import secrets
import sqlite3
import sys
import tempfile
import time
import uuid

from measuring import Connection, Server, auc, mail_server, measure, people, percentile, singly, strangers

RESET, LOGIN = "/api/request-password-reset/", "/api/auth/login"
LOGOUT = "/api/auth/logout"
VALIDATE, CONFIRM = "/api/validate-reset-token/", "/api/confirm-password-reset/"
REGISTER, VERIFY_REQUEST, CHANGE_EMAIL = "/api/auth/register", "/api/auth/verify-email/request", "/api/auth/change-email"
KEEP = "/api/auth/delete-account/undo"
LIMITS = [
    "RESET_IP", "RESET_GLOBAL", "RESET_EMAIL", "LOGIN_ACCOUNT", "LOGIN_FAILURES", "LOGIN_DEVICE", "LOGIN_IP", "TOKEN_IP", "REGISTER_IP",
    "REGISTER_EMAIL", "VERIFY_EMAIL", "LINK_ATTEMPTS", "ACCOUNT_IP", "ACCOUNT_CHANGE", "ACCOUNT_PASSWORD", "CHANGE_EMAIL",
]
OFF = {f"LIMIT_{name}": "off" for name in LIMITS}


class Laboratory:
    def __init__(self, options):
        self.options = options
        self.count = options.n + 20
        self.failed = False

    @contextlib.contextmanager
    def serving(self, environment=None, prepare=None):
        """A server with fresh data; `prepare` fills them while another one runs."""
        with tempfile.TemporaryDirectory(prefix="holdfast-oracle-") as folder, mail_server(self.options.mail) as port:
            server = Server(self.options.binary, folder, OFF | (environment or {}), port)
            if prepare:
                with server:
                    prepared = prepare(server)
                with server:
                    # The decoys follow the accounts.
                    time.sleep(2)
                    yield server, prepared
            else:
                with server:
                    yield server

    def people(self, server, state="active", hashes=None):
        addresses, file = people(server.folder, self.count, state, hashes)
        server.run("users", "import", file)
        return addresses

    def report(self, name, groups, answers=None, clocked=False, bounded=True):
        """A line of the table. Answers that name a wait are compared with their numbers blanked.

        Where there are too few groups to bound the area, only an interval without 0.5 is a failure.
        """
        area, low, high = auc(*groups)
        times = [[value for group in kind for value in group] for kind in groups]
        p95 = " / ".join(f"{percentile(values, 0.95) / 1_000:.2f}" for values in times)
        told = ""
        if answers:
            told = "/".join(",".join(sorted({str(answer.status) for answer in kind.values()})) for kind in answers)
            seen = [{re.sub(rb"\d+", b"#", whole) if clocked else whole for whole in kind} for kind in answers]
            if seen[0] != seen[1]:
                self.failed = True
                told += " **bytes differ**"
                for whole in seen[0] ^ seen[1]:
                    print(f"only one of the kinds has: {whole!r}", file=sys.stderr)
        if low < 0.45 or high > 0.55 if bounded else not low <= 0.5 <= high:
            self.failed = True
        holds = "holds 0.5" if low <= 0.5 <= high else "without 0.5"
        print(f"| {name} | {min(map(len, times)):,} | {told} | {area:.3f} ({low:.3f}–{high:.3f}) | {p95} ms | {holds} |", flush=True)

    def pair(self, name, server, path, first, second, clocked=False, token=None):
        print(f"{name} …", file=sys.stderr, flush=True)
        times, answers = measure(server.port, path, first, second, token)
        self.report(name, [singly(kind) for kind in times], answers, clocked)


def emails(addresses):
    return [{"email": address} for address in addresses]


def attempts(addresses):
    return [{"email": address, "password": "wrong password"} for address in addresses]


def own_hash(server):
    """A hash of our own, of an account that is registered for it."""
    connection = Connection(server.port)
    body = {"email": f"{uuid.uuid4().hex}@example.com", "password": "a good password of its own", "first_name": "Ana"}
    assert connection.post("/api/auth/register", body).status == 201
    connection.close()
    with sqlite3.connect(server.folder / "data/holdfast.sqlite3") as database:
        return database.execute("SELECT password_hash FROM account WHERE email_key = ?", (body["email"],)).fetchone()[0]


def links(server, count, kind):
    """Puts reset links of one kind into the database, and returns their tokens."""
    tokens = [secrets.token_urlsafe(32) for _ in range(count)]
    now = time.time()
    with sqlite3.connect(server.folder / "data/holdfast.sqlite3", timeout=30) as database:
        account, key = database.execute("SELECT id, email_key FROM account LIMIT 1").fetchone()
        database.executemany(
            "INSERT INTO reset_token (digest, account_id, email_key, created_at, expires_at, consumed_at) VALUES (?, ?, ?, ?, ?, ?)",
            [(hashlib.sha256(token.encode()).digest(), account, key, now - 3_700, now - 60 if kind == "expired" else now + 86_400,
              now - 30 if kind == "used" else None) for token in tokens],
        )
    return tokens


def known_unknown(lab, name):
    with lab.serving() as server:
        lab.pair(name, server, RESET, emails(lab.people(server)), emails(strangers(lab.count)))


def control(lab, name):
    """Two kinds that are one: what is told here is told by the measurement itself."""
    with lab.serving() as server:
        lab.pair(name, server, RESET, emails(strangers(lab.count)), emails(strangers(lab.count)))


def known_suspended(lab, name):
    with lab.serving() as server:
        lab.pair(name, server, RESET, emails(lab.people(server)), emails(lab.people(server, "suspended")))


def limited(lab, name):
    with lab.serving({"LIMIT_RESET_EMAIL": "1/86400"}) as server:
        known, unknown = lab.people(server), strangers(lab.count)
        measure(server.port, RESET, emails(known), emails(unknown))
        lab.pair(name, server, RESET, emails(known), emails(unknown), clocked=True)


def known_limited_in_shadow(lab, name):
    """Known addresses beside known ones that are over their limit, where limits are in a dry run and nobody is refused."""
    with lab.serving({"LIMIT_RESET_EMAIL": "1/86400", "RATE_LIMIT_MODE": "shadow"}) as server:
        fresh, limited = lab.people(server), lab.people(server)
        measure(server.port, RESET, emails(limited), [])
        lab.pair(name, server, RESET, emails(fresh), emails(limited))


def probes(path, body, seconds):
    """What others' requests feel after requests that name a known or an unknown address, while what those set off is done.

    Three requests for one address, as many as its limit admits, then others' requests for so many seconds. Their times are compared one
    by one, and by the longest and the mean of each turn.
    """
    def pair(lab, name):
        print(f"{name} …", file=sys.stderr, flush=True)
        with lab.serving() as server:
            known = lab.people(server, hashes=[own_hash(server)])
            connection = Connection(server.port)
            kinds = [0, 1] * max(2, int(lab.options.seconds / seconds) // 2)
            random.shuffle(kinds)
            turns = [], []
            for kind in kinds:
                address = [known.pop(), strangers(1)[0]][kind]
                for _ in range(3):
                    connection.post(path, body(address))
                times, end = [], time.monotonic() + seconds
                while time.monotonic() < end:
                    # It writes, so that it stands in line with what the worker writes, and gives the worker nothing to do.
                    times.append(connection.send(connection.request(LOGOUT, {"refresh_token": secrets.token_urlsafe(32)}))[1])
                    time.sleep(0.001)
                turns[kind].append(times)
            connection.close()
        lab.report(f"{name}, each", turns, bounded=False)
        # There are too few turns to bound these sharply; they are told, and fail nothing.
        for label, of in [("longest", max), ("mean", lambda times: sum(times) / len(times))]:
            area, low, high = auc(*[singly(map(of, kind)) for kind in turns])
            print(f"| {name}, {label} of a turn | {len(turns[0])} | | {area:.3f} ({low:.3f}–{high:.3f}) | | |", flush=True)
    return pair


def wrong_password(lab, name):
    with lab.serving() as server:
        known = lab.people(server, hashes=[own_hash(server)])
        lab.pair(name, server, LOGIN, attempts(known), attempts(strangers(lab.count)))


def wrong_password_suspended(lab, name):
    with lab.serving() as server:
        suspended = lab.people(server, "suspended", hashes=[own_hash(server)])
        lab.pair(name, server, LOGIN, attempts(suspended), attempts(strangers(lab.count)))


def imported(foreign):
    """Half of the accounts have a hash of another system, half our own."""
    def pair(lab, name):
        prepare = lambda server: lab.people(server, hashes=[own_hash(server), foreign])
        with lab.serving(prepare=prepare) as (server, known):
            lab.pair(name, server, LOGIN, attempts(known), attempts(strangers(lab.count)))
    return pair


def link(path, kind):
    extra = {} if path == VALIDATE else {"new_password": "another good password"}

    def pair(lab, name):
        with lab.serving() as server:
            lab.people(server)
            unknown = [secrets.token_urlsafe(32) for _ in range(lab.count)]
            dead = links(server, lab.count, kind)
            lab.pair(name, server, path, *[[{"token": token} | extra for token in tokens] for tokens in [unknown, dead]])
    return pair


def registrations(addresses):
    return [{"email": address, "first_name": "Ana", "password": "a good password of its own"} for address in addresses]


def blind_registration(lab, name):
    """The sequence of an attacker who wants to know whether addresses have accounts: register, sign in, request a reset."""
    with lab.serving({"REGISTRATION": "blind"}, lambda server: lab.people(server, hashes=[OWN_HASH])) as (server, known):
        unknown = strangers(lab.count)
        lab.pair(f"{name}, register", server, REGISTER, registrations(known), registrations(unknown))
        lab.pair(f"{name}, then sign in", server, LOGIN, attempts(known), attempts(unknown))
        lab.pair(f"{name}, then request a reset", server, RESET, emails(known), emails(unknown))


# A hash with the server's own costs, which no password has.
OWN_HASH = "$argon2id$v=19$m=19456,t=2,p=1$" + "A" * 22 + "$" + "A" * 43


def verification(lab, name):
    with lab.serving() as server:
        lab.pair(name, server, VERIFY_REQUEST, emails(lab.people(server)), emails(strangers(lab.count)))


def unverified(lab, name):
    """Accounts that the request sends a link to, beside addresses without an account."""
    with lab.serving() as server:
        known = lab.people(server)
        with sqlite3.connect(server.folder / "data/holdfast.sqlite3", timeout=30) as database:
            database.execute("UPDATE account SET is_verified = 0")
        lab.pair(name, server, VERIFY_REQUEST, emails(known), emails(strangers(lab.count)))


def email_change(lab, name):
    with lab.serving() as server:
        taken, free, password = lab.people(server), strangers(lab.count), "a good password of its own"
        connection = Connection(server.port)
        token = json.loads(connection.post(REGISTER, registrations(["mallory@example.com"])[0]).body)["access_token"]
        connection.close()
        kinds = [[{"current_password": password, "new_email": address} for address in kind] for kind in [taken, free]]
        lab.pair(name, server, CHANGE_EMAIL, *kinds, token=token)


def undo(lab, name):
    """Links that restore a deleted account: unknown ones beside expired ones."""
    with lab.serving() as server:
        lab.people(server)
        dead, now = [secrets.token_urlsafe(32) for _ in range(lab.count)], time.time()
        with sqlite3.connect(server.folder / "data/holdfast.sqlite3", timeout=30) as database:
            account, email, key = database.execute("SELECT id, email, email_key FROM account LIMIT 1").fetchone()
            database.executemany(
                "INSERT INTO account_link (digest, purpose, account_id, email, email_key, epoch, language, created_at, expires_at)"
                " VALUES (?, 'keep-account', ?, ?, ?, 0, 'en', ?, ?)",
                [(hashlib.sha256(token.encode()).digest(), account, email, key, now - 3_700,
                  now - 60) for token in dead],
            )
        unknown = [secrets.token_urlsafe(32) for _ in range(lab.count)]
        lab.pair(name, server, KEEP, *[[{"token": token} for token in tokens] for tokens in [unknown, dead]])


PAIRS = {
    "control: unknown, unknown": control,
    "request: known, unknown": known_unknown,
    "request: known, suspended": known_suspended,
    "request over its limit: known, unknown": limited,
    "request in a dry run: known, known over its limit": known_limited_in_shadow,
    # After a request its mail goes out within two seconds, after a sign-in the audit is written within half a second.
    "probes after requests: known, unknown": probes(RESET, lambda address: {"email": address}, 2.4),
    "probes after wrong passwords: known, unknown": probes(LOGIN, lambda address: attempts([address])[0], 0.7),
    "login: wrong password, unknown": wrong_password,
    "login: suspended and wrong password, unknown": wrong_password_suspended,
    "login: half of PBKDF2, unknown": imported("pbkdf2_sha256$150000$decoysalt$" + "A" * 43 + "="),
    "login: half of bcrypt, unknown": imported("$2b$10$" + "abcdefghijklmnopqrstuu" + "A" * 31),
    "login: half of costlier Argon2id, unknown": imported("$argon2id$v=19$m=65536,t=4,p=1$" + "A" * 22 + "$" + "A" * 43),
    "validate: unknown, expired link": link(VALIDATE, "expired"),
    "validate: unknown, used link": link(VALIDATE, "used"),
    "confirm: unknown, expired link": link(CONFIRM, "expired"),
    "confirm: unknown, used link": link(CONFIRM, "used"),
    "blind registration: known, unknown": blind_registration,
    "verify request: verified, unknown": verification,
    "verify request: unverified, unknown": unverified,
    "change email: taken, free": email_change,
    "delete undo: unknown, expired link": undo,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("-n", type=int, default=1_000, help="requests of each kind (1000)")
    parser.add_argument("--mail", choices=["fast", "slow", "refused"], default="fast",
                        help="a mail server that is fast, takes 2 s for each mail, or does not listen")
    parser.add_argument("--only", action="append", help="pairs whose name begins with this; may be said several times")
    parser.add_argument("--seconds", type=float, default=180, help="for each kind of probes (180)")
    options = parser.parse_args()
    chosen = {name: pair for name, pair in PAIRS.items() if name.startswith(tuple(options.only or [""]))}
    if not chosen:
        parser.error("no pair begins so; there are: " + "; ".join(PAIRS))
    lab = Laboratory(options)
    print(f"| pair ({options.mail} mail) | n each | statuses | AUC (95 %) | p95 | |\n|---|--:|---|---|---|---|", flush=True)
    for name, pair in chosen.items():
        pair(lab, name)
    sys.exit(1 if lab.failed else 0)


main()
