"""The faults that every server of the comparison is put to: 27 requests that must fail, and what a good answer would tell."""
import json
from dataclasses import dataclass, field


@dataclass
class Fault:
    name: str
    method: str
    path: str
    # The statuses that RFC 9110 and common use allow for it.
    statuses: tuple[int, ...]
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    # The JSON Pointers of the fields that are wrong.
    pointers: tuple[str, ...] = ()
    # How often the request is sent; the last answer counts.
    times: int = 1
    # Whether the answer must say when to come back.
    names_delay: bool = False
    # The longest wait that is true, in seconds.
    delay_at_most: int = 60
    # A HEAD has no body to look at.
    has_body: bool = True


def note(**changes) -> bytes:
    good = {"title": "a", "email": "ana@example.com", "priority": 3, "items": [{"name": "x", "quantity": 1}]}
    return json.dumps({**good, **changes}).encode()


JSON = {"Content-Type": "application/json"}


def faults(valid_token: str, expired_token: str) -> list[Fault]:
    bearer = {"Authorization": f"Bearer {valid_token}"}
    return [
        Fault("unknown path", "GET", "/no/such/path", (404,)),
        Fault("unknown path, HEAD", "HEAD", "/no/such/path", (404,), has_body=False),
        Fault("missing entity", "GET", "/notes/999", (404,)),
        Fault("path parameter of a wrong type", "GET", "/notes/abc", (400, 404, 422)),
        Fault("wrong method", "DELETE", "/notes", (405,)),
        Fault("malformed JSON", "POST", "/notes", (400, 422), JSON, b'{"title": nope}'),
        Fault("truncated JSON", "POST", "/notes", (400, 422), JSON, note()[:40]),
        Fault("not UTF-8", "POST", "/notes", (400, 422), JSON, b'{"title":"\xff\xfe"}'),
        Fault("JSON nested 20,000 deep", "POST", "/notes", (400, 413, 422), JSON, b"[" * 20_000 + b"]" * 20_000),
        Fault("empty body", "POST", "/notes", (400, 422), JSON, b""),
        Fault("a list instead of an object", "POST", "/notes", (400, 422), JSON, b"[1,2]"),
        Fault("wrong type", "POST", "/notes", (400, 422), JSON, note(priority="high"), ("/priority",)),
        Fault("missing field", "POST", "/notes", (400, 422), JSON, b'{"title":"a","email":"a@b.example","items":[]}', ("/priority",)),
        Fault(
            "three invalid fields", "POST", "/notes", (400, 422), JSON, note(title="", email="nobody", priority=9),
            ("/title", "/email", "/priority"),
        ),
        Fault(
            "invalid elements of a list", "POST", "/notes", (400, 422), JSON,
            note(items=[{"name": "x", "quantity": 1}, {"name": "y", "quantity": "two"}, {"quantity": 1}]),
            ("/items/1/quantity", "/items/2/name"),
        ),
        Fault("no content type", "POST", "/notes", (415,), {}, note()),
        Fault("text as content type", "POST", "/notes", (415,), {"Content-Type": "text/plain"}, note()),
        Fault("body of 1 MB", "POST", "/notes", (413,), JSON, note(title="a" * 1_000_000)),
        Fault("no credentials", "GET", "/me", (401,)),
        Fault("garbage as token", "GET", "/me", (401,), {"Authorization": "Bearer garbage"}),
        Fault("expired token", "GET", "/me", (401,), {"Authorization": f"Bearer {expired_token}"}),
        Fault("not allowed", "GET", "/private", (403,), bearer),
        Fault("conflict", "POST", "/notes", (409,), JSON, note(title="taken")),
        Fault("over the limit", "GET", "/limited", (429,), times=3, names_delay=True),
        Fault("handler throws", "GET", "/throws", (500,)),
        Fault("handler hangs", "GET", "/hangs", (503, 504)),
        Fault("dependency down", "GET", "/dependency", (503,), names_delay=True, delay_at_most=300),
        Fault("odd Accept", "GET", "/notes/999", (404, 406), {"Accept": "text/csv;q=0.5, application/problem+json"}),
    ]
