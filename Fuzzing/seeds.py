"""Writes the first inputs of a target of the fuzzer: bodies and requests of the tests.

seeds.py TARGET REPOSITORY FOLDER
"""
import json
import pathlib
import sqlite3
import sys

target, root, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
count = 0


def seed(content):
    """Adds an input."""
    global count
    count += 1
    (folder / f"{count:04}").write_bytes(content if isinstance(content, bytes) else content.encode())


def errors():
    """The labeled responses: the status, the headers, an empty line, the body."""
    for file in sorted((root / "Tests/ErrorContractTests/Resources/bodies").rglob("*.json*")):
        text = file.read_text()
        lines = [json.loads(line) for line in text.splitlines() if line.strip()] if not text.lstrip().startswith("[") else json.loads(text)
        for entry in lines:
            if "json" in entry:
                body = json.dumps(entry["json"], separators=(",", ":"), ensure_ascii=False).encode()
            else:
                pad = entry.get("pad", {"with": "", "count": 0})
                body = entry.get("text", "").replace("PAD", pad["with"] * min(pad["count"], 100)).encode()
                body = bytes.fromhex(entry["hex"]) if "hex" in entry else body
            head = [str(entry["status"])] + [f"{name}:{value}" for name, value in entry.get("headers", {}).items()]
            seed("\n".join(head).encode() + b"\n\n" + body)


TOKEN = "dG9rZW4tb2YtMzItYnl0ZXMtdGhhdC1pcy1zZWNyZXQ"
REGISTER = {"email": "Ana@Example.com", "password": "correct horse battery", "first_name": "Ana María", "locale": "es"}
LOGIN = {"email": "ana@example.com", "password": "correct horse battery"}
REFRESH = {"refresh_token": TOKEN}
RESET = {"email": "user+tag@mañana.example"}
VALIDATE = {"token": TOKEN, "email": "ana@example.com"}
CONFIRM = {"token": TOKEN, "new_password": "correct horse battery 2"}
EVERYTHING = {
    "text": "a\u0000b \U0001f4a5", "flag": True, "small": -128, "large": -9223372036854775808, "real": 1.5e-7, "single": 0.1,
    "date": "2025-11-04T10:30:00Z", "url": "https://example.com/a?b=c", "id": "00000000-0000-4000-8000-000000000000",
    "kind": "second", "texts": ["", "b"], "table": {"a": 1}, "part": {"name": "x", "parts": [{"name": "y"}]}, "parts": [],
}
BODIES = [REGISTER, LOGIN, REFRESH, RESET, VALIDATE, CONFIRM, EVERYTHING]


def form(values):
    """The scalars of a body as a form."""
    texts = {True: "true"}
    from urllib.parse import urlencode
    return urlencode({key: texts.get(value, value) for key, value in values.items() if not isinstance(value, (dict, list))})


def bodies():
    for number, body in enumerate(BODIES):
        seed(bytes([number << 1]) + json.dumps(body, ensure_ascii=False).encode())
        seed(bytes([number << 1]) + json.dumps({key: None for key in body}).encode())
        seed(bytes([number << 1]) + json.dumps({key: [{"a": value}] for key, value in body.items()}).encode())
        seed(bytes([number << 1 | 1]) + form(body).encode())
    for text in ["", "{}", "[]", '{"email":"a","email":"b"}', "[" * 40, '{"email":"\\ud800"}', '"' + "x" * 200 + '"', "\ufeff{}"]:
        seed(b"\0" + text.encode())
    for text in ["a=b&a=c", "%zz=1", "a=%", "&&=&", "a" * 200, "+=+", "%C3%A9=%ff"]:
        seed(b"\1" + text.encode())


def http():
    host = "Host: accounts.example.com\r\n"
    requests = [f"GET {path} HTTP/1.1\r\n{host}Accept: */*\r\n\r\n" for path in [
        "/health/live", "/health/ready", "/metrics", "/reset-password?token=abc&email=a%40b.example", "/openapi.json", "/api",
        "/.well-known/change-password", "/errors/AUTH_TOKEN_INVALID", "/dev/mailbox", "/api/auth/me", "//", "/%2e%2e/%00",
    ]]
    paths = ["/api/auth/register", "/api/auth/login", "/api/auth/refresh", "/api/request-password-reset/",
             "/api/validate-reset-token/", "/api/confirm-password-reset/", "/api/auth/logout", "/reset_password/"]
    for path, body in zip(paths, [REGISTER, LOGIN, REFRESH, RESET, VALIDATE, CONFIRM, REFRESH, RESET]):
        text = json.dumps(body)
        head = f"POST {path} HTTP/1.1\r\n{host}Content-Type: application/json\r\nContent-Length: {len(text.encode())}\r\n"
        requests.append(head + "\r\n" + text)
        requests.append(head + f"Idempotency-Key: \"k-{len(text)}\"\r\nExpect: 100-continue\r\nAccept-Language: es\r\n\r\n" + text)
    for path in ["/reset-password", "/reset_password/"]:
        text = form(CONFIRM)
        head = f"POST {path} HTTP/1.1\r\n{host}Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n"
        requests.append(f"{head}Origin: https://accounts.example.com\r\n\r\n{len(text):x}\r\n{text}\r\n0\r\n\r\n")
    requests += [
        f"GET /api/auth/me HTTP/1.1\r\n{host}Authorization: Bearer a.b.c\r\nX-Request-Timeout-Ms: 20\r\n\r\n",
        f"HEAD /health/live HTTP/1.1\r\n{host}X-Forwarded-For: 1.2.3.4, ::1\r\nForwarded: for=\"[::1]:80\"\r\n\r\n",
        f"OPTIONS * HTTP/1.1\r\n{host}\r\n", f"DELETE /api/auth/login HTTP/1.1\r\n{host}\r\n", f"TRACE / HTTP/1.1\r\n{host}\r\n",
        "GET /health/live HTTP/1.0\r\n\r\n", f"BREW /pot HTTP/1.1\r\n{host}\r\n", f"GET / HTTP/1.1\r\n{host}X-A: 1\r\n  2\r\n\r\n",
        f"POST / HTTP/1.1\r\n{host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        f"POST / HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n{{}}", f"GET / HTTP/1.1\r\n{host}X: a\0b\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\n\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n",
        f"GET http://other.example/health/live HTTP/1.1\r\n{host}\r\n", f"CONNECT a:1 HTTP/1.1\r\n{host}\r\n",
        f"GET /health/live HTTP/1.1\r\n{host}Connection: close\r\n\r\n", f"GET / HTTP/1.1\r\n{host}Connection: upgrade\r\nUpgrade: h2c\r\n\r\n",
    ]
    for request in requests:
        seed(request)
    for first in requests[:4]:
        seed(first + requests[14] + first)
        seed(first + "NOT HTTP\r\n\r\n")


def fields():
    for lines in [
        ["X-Forwarded-For:1.2.3.4, 10.0.0.7", "Accept:application/json;q=0.5, */*", "Accept-Language:es-MX, en;q=0.1"],
        ["Forwarded:for=\"[2001:db8::1]:4711\";proto=https, for=_hidden;by=unknown", "traceparent:00-" + "1" * 32 + "-" + "2" * 16 + "-01"],
        ["Forwarded:for=192.0.2.60;for=a", "X-Forwarded-For:::ffff:1.2.3.4,,fe80::1%eth0, 64:ff9b::102:304"],
        ["Idempotency-Key:\"a \\\" \\\\ b\"", "Origin:https://example.com", "Sec-Fetch-Site:same-origin", "Authorization:Bearer x"],
        ["Idempotency-Key:plain-key", "Origin:null", "Sec-Fetch-Site:cross-site", "Accept:application/problem+json"],
        ["Cookie:__Host-device=" + TOKEN + "; a=\"b\"; =; c", "X-Request-Timeout-Ms:1.5", "Accept:text/html, a/b;q=2, \"x\""],
        ["10.0.0.0/8", "2001:db8::/32", "::ffff:10.0.0.0/104", "0.0.0.0/0", "1.2.3.4/33", "::1", "1:2:3:4:5:6:7:8", "01.2.3.4"],
    ]:
        seed("\n".join(lines))
    for pair in [b"\xffA", b"\xff\0", b"\xff\1", b"\0e", b"\x20.", b"\xff=\xff=", b"\xfe+\xff/"]:
        seed(pair)


def links():
    for link in [
        f"https://example.com/reset-password?token={TOKEN}&email=ana%40example.com", f"https://example.com/a/reset-password#token={TOKEN}",
        f"crowns://reset-password?token={TOKEN}", f"http://localhost:8080/reset-password/?token={TOKEN}&token=b",
        f"https://user@example.com/reset-password?token={TOKEN}", f"HTTPS://EXAMPLE.com/reset-password?email=a&token={TOKEN}#email=b",
        "crowns://lesson/crowns%20of%20light/12", "https://example.com/lesson/a/2?utm=1", "https://example.com/?type=coupon&title=10%25%20off",
        "crowns://?type=coupon&title=", "https://example.com/lesson/%zz/1", "https://[::1]/reset-password?token=x", f"token={TOKEN}&email=%",
        "token=a%20b&email=ana@example.com", "crowns:reset-password?token=a", "https://example.com//reset-password?token=%25",
    ]:
        seed(link)


def associations():
    app = "ABCDE12345.com.example.app"
    files = [
        {"applinks": {"details": [{"appIDs": [app], "components": [{"/": "/reset-password", "?": {"token": "?*"}}, {"/": "/r*", "#": "?*", "exclude": True}]}]}},
        {"applinks": {"apps": [], "details": [{"appID": app, "paths": ["NOT /a/*", "/b?", "*"]}]}},
        {"applinks": {"defaults": {"caseSensitive": False, "percentEncoded": False}, "substitutionVariables": {"food": ["pizza", "x*"]},
                      "details": [{"appIDs": ["A.b"], "defaults": {"exclude": False}, "components": [{"/": "/$(lang)/$(food)/$(digit)", "comment": "é"}]}]}},
        {"applinks": {"details": {"A.b": {"paths": ["/x"]}}}, "appclips": {"apps": [app]}, "webcredentials": {"apps": [app]}},
        {"applinks": {"details": [{"appIDs": [app], "components": [{"/": "*" + "a*" * 20 + "b"}]}]}},
    ]
    for link in ["https://example.com/reset-password?token=abc&email=a%40b.c", "https://example.com/en/PIZZA/7#t", "https://example.com/" + "a" * 60,
                 "https://user@EXAMPLE.com:443//b/?a&a=&=b&&", "https://exämple.com/é", "crowns://x"]:
        for file in files:
            seed(link + "\n" + json.dumps(file, ensure_ascii=False))


ARGON = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$" + "A" * 43
DJANGO = "pbkdf2_sha256$600000$saltsaltsalt$" + "A" * 43 + "="
BCRYPT = "$2b$12$" + "a" * 53


def imports():
    seed("email,first_name,password_hash,state,locale\r\nana@example.com,\"Ana \"\"x\"\"\"," + ARGON + ",active,es\r\nb@example.com,,,suspended,\r\n")
    seed("\ufeffname,email,password,is_active,deleted_at\n\"O'Neil, Jr\",c@example.com," + BCRYPT + ",t,NULL\n,d@example.com,\\N,f,2020-01-01\n")
    seed("email\n\"a\nb\"@example.com\n\"open")
    lines = [{"email": "ana@example.com", "first_name": "Ana", "password_hash": DJANGO, "is_active": True, "locale": "pt_BR"},
             {"email": "b@example.com", "name": "Bo", "password": BCRYPT, "state": "inactive", "deleted_at": None, "is_active": 0}]
    seed("\n".join(json.dumps(line) for line in lines))
    seed(json.dumps([{"model": "auth.user", "pk": 1, "fields": {"email": "ana@example.com", "password": DJANGO, "first_name": "Ana", "is_active": True}},
                     {"model": "auth.group", "pk": 1, "fields": {"name": "x"}}, {"model": "x"}]))
    for kind in ["INTEGER PRIMARY KEY", "TEXT"]:
        file = folder / "database"
        with sqlite3.connect(file) as database:
            database.execute("PRAGMA page_size=512")
            database.execute(f"CREATE TABLE auth_user(id {kind}, email, first_name, password, is_active)")
            database.executemany("INSERT INTO auth_user VALUES(?,?,?,?,?)", [
                (1, "ana@example.com", "Ana", DJANGO, 1), (2, "b@example.com", None, "!", "no"), (3, b"x", 1.5, None, None),
            ])
        database.close()
        seed(file.read_bytes())
        file.unlink()


def settings():
    seed("# a comment\n\nexport APP_NAME=\"Crowns\"\r\nENVIRONMENT=production\nPASSWORD_RESET_BASE_URL=https://accounts.example.com/a\n"
         "HOLDFAST_SECRET=0123456789abcdef0123456789abcdef\nMETRICS_TOKEN='0123456789abcdef0123456789abcdef'\nLOG_LEVEL=debug\nLOG_FORMAT=json\n")
    seed("ENVIRONMENT=development\nEMAIL_HOST=smtp.example.com\nEMAIL_PORT=587\nEMAIL_USE_TLS=yes\nEMAIL_HOST_USER=crowns@example.com\n"
         "EMAIL_HOST_PASSWORD=hunter2-hunter2\nEMAIL_TIMEOUT=10\nEMAIL_FROM=Crowns <no-reply@example.com>\nDEFAULT_LOCALE=es\n")
    seed("ENVIRONMENT=development\nTRUSTED_PROXIES=10.0.0.0/8, 127.0.0.1,2001:db8::/32\nCLIENT_IPV6_PREFIX=56\nRATE_LIMIT_MODE=shadow\n"
         "LIMIT_LOGIN_IP=10/60\nLIMIT_RESET_GLOBAL=off\nPASSWORD_RESET_MAX_ATTEMPTS_PER_HOUR=5\nREQUESTS_IN_FLIGHT=10\nREQUESTS_WAITING=0\n")
    seed("ENVIRONMENT=development\nAPPLE_APP_IDS=ABCDE12345.com.example.app\nANDROID_PACKAGE=com.example.app\nANDROID_CERT_SHA256="
         + ":".join(["AB"] * 32) + "\nAPP_LINK_SCHEME=crowns\nRESET_LINK_STYLE=fragment\nPASSWORD_RESET_TOKEN_EXPIRY_HOURS=0.5\n"
         "RESET_LIVE_LINKS=3\nPASSWORD_MIN_LENGTH=12\nPASSWORD_POLICY=letters-and-digits\nIDEMPOTENCY_KEY_HOURS=24\nIDEMPOTENCY_KEYS=1000\n")
    seed("ENVIRONMENT=development\nREQUEST_TIMEOUT_SECONDS=600\nERROR_FORMAT=problem\nDATABASE_URL=\nREGISTRATION_REVEALS_ACCOUNTS=true\n"
         "INSTALLATION_ID=a\nPASSWORD_RESET_SUBJECT=Ñandú\nPASSWORD_RESET_PREVIEW='x'\nHOLDFAST_SECRET=short")
    seed("A=\"\nB='x\"\n=\n\u00e9=1\nA=1\rB=2\n")


folder.mkdir(parents=True, exist_ok=True)
{function.__name__: function for function in [errors, bodies, http, fields, links, associations, imports, settings]}[target]()
