"""Asks real servers for errors and keeps their answers, labelled, as bodies that the decoder's tests read.

The labels are made here, per server, by reading the body with Python: another reader than the one that is tested. Look at the
difference before you keep a new capture.
"""
import json
import re
import sys

import servers
from faults import faults

TARGET = servers.ROOT / "Tests" / "ErrorContractTests" / "Resources" / "bodies" / "captured.json"
KEPT = {"content-type", "retry-after", "allow", "www-authenticate", "x-ratelimit-limit", "x-ratelimit-remaining", "server", "content-language"}


def steps(path) -> tuple[str, str]:
    """A path as a person names it, and as a JSON Pointer."""
    name = ""
    for step in path:
        name += f"[{step}]" if isinstance(step, int) else ("." if name else "") + step
    return name, "#" + "".join(f"/{step}" for step in path)


def violation(path, message, code=None, is_pointed=False) -> dict:
    """A problem; with a pointer where the body itself says a place of the request's body."""
    name, pointer = steps(path)
    made = {"field": name, "message": message}
    if is_pointed:
        made["pointer"] = pointer
    if code:
        made["code"] = code
    return made


def django_label(body) -> dict:
    if isinstance(body, dict) and "detail" in body:
        label = {"message": body["detail"]}
        if "code" in body:
            label["code"] = body["code"]
        return label
    found = []

    def walk(value, path):
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            found.extend(violation(path, text) for text in value)
        elif isinstance(value, list):
            for index, element in enumerate(value):
                walk(element, [*path, index])
        elif isinstance(value, dict):
            for key, element in value.items():
                walk(element, [*path, key])

    general = body.pop("non_field_errors", [])
    walk(body, [])
    label = {"violations": found} if found else {}
    if general:
        label["message"] = general[0]
    return label


def fastapi_label(body) -> dict:
    if "error" in body:
        return {"message": body["error"]}
    if isinstance(body["detail"], str):
        return {"message": body["detail"]}
    items = []
    for item in body["detail"]:
        where, path = item["loc"][0], item["loc"][1:]
        # The number is a place in the text, not in the value.
        is_text = item["type"] == "json_invalid"
        items.append(violation([] if is_text else path, item["msg"], item["type"], is_pointed=where == "body" and not is_text))
    return {"violations": items}


def flask_label(body) -> dict:
    return {"message": body["description"]}


def hummingbird_label(body) -> dict:
    text = body["error"]["message"]
    missing = re.fullmatch(r"Coding key `(\w+)` not found\.", text)
    if missing:
        return {"message": text, "violations": [{"field": missing[1], "message": text}]}
    # A sentence about Swift's types is nothing for a person.
    return {} if "<" in text else {"message": text}


def no_label(body) -> dict:
    return {}


def capture(source, port, requests, label) -> list[dict]:
    kept, seen = [], set()
    for name, method, path, headers, body, times in requests:
        for _ in range(times):
            answer = servers.ask(port, method, path, headers, body)
        if answer is None or answer.status < 400 or not answer.body or len(answer.body) > 4_096 or answer.body in seen:
            continue
        seen.add(answer.body)
        entry = {"source": source, "label": f"{source}: {name}", "status": answer.status}
        entry["headers"] = {key: value for key, value in answer.headers if key.lower() in KEPT}
        entry["text"] = answer.body.decode("utf-8")
        try:
            facts = label(json.loads(answer.body))
        except ValueError:
            facts = {}
        delay = answer.header("Retry-After")
        if delay is not None:
            facts["retryAfter"] = int(delay)
        entry["expected"] = facts
        kept.append(entry)
    return kept


def main():
    entries = []

    def notes(source, start, label, module=None):
        made = servers.tokens(module) if module else ("valid", "expired")
        requests = [
            (f"{fault.name} ({language})", fault.method, fault.path, {"Accept": "application/json", "Accept-Language": language, **fault.headers}, fault.body, fault.times)
            for language in (("en", "es") if module == "notes_drf" else ("en",))
            for fault in faults(*made)
        ]
        with start() as port:
            entries.extend(capture(source, port, requests, label))

    def edge(source, start):
        paths = ["/x", "/hangs", "/limited", "/limited429", "/missing/x", "/forbidden", "/none"]
        requests = [(path, "GET", path, {}, None, 2 if "limited" in path else 1) for path in paths]
        requests.append(("a large body", "POST", "/x", {}, b"a" * 5_000, 1))
        with start() as port:
            entries.extend(capture(source, port, requests, no_label))

    notes("Django REST", servers.django, django_label, "notes_drf")
    notes("FastAPI", servers.fastapi, fastapi_label, "notes_fastapi")
    notes("Flask", servers.flask, flask_label)
    notes("Hummingbird", lambda: servers.notes_server("--bare"), hummingbird_label)
    edge("nginx", servers.nginx)
    edge("HAProxy", servers.haproxy)
    TARGET.write_text("[\n" + ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n]\n")
    print(f"{len(entries)} bodies in {TARGET.relative_to(servers.ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
