"""What an answer tells, looked at without knowing which server gave it."""
import json
import re

from faults import Fault
from servers import Answer

FACTS = ["right status", "JSON body", "machine code", "all field errors", "place of each field", "request id", "right Retry-After", "no internals", "localized"]

INTERNALS = ["hunter2", "SELECT", "/srv/", "Traceback", "RuntimeError", "codec can't decode", "Coding key", "CodingKeys", "Swift.", "NIO", "(char "]
SPANISH = re.compile(
    r"[áéíóúñ¿¡]|\b(campo|solicitud|espera|encontrado|permitid[oa]|válid[oa]|intent[ao]|correo|sesión|servidor|cuerpo|acción|tipo de|por favor|recurso|cuenta)\b",
    re.IGNORECASE,
)


def parsed(answer: Answer):
    try:
        return json.loads(answer.body)
    except ValueError:
        return None


def codes(body) -> list[str]:
    """The machine-readable names in a body: not numbers, not sentences."""
    if not isinstance(body, dict):
        return []
    found = [body.get("code"), body.get("error_code"), body.get("reason")]
    inner = body.get("error")
    if isinstance(inner, dict):
        found += [inner.get("code"), inner.get("status")]
    if isinstance(body.get("detail"), list):
        found += [item.get("type") for item in body["detail"] if isinstance(item, dict)]
    return [code for code in found if isinstance(code, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", code)]


def places(body) -> set[str]:
    """Where a body says that fields are wrong, as JSON Pointers: RFC 6901, a list of steps, or a body that mirrors the request's."""
    found: set[str] = set()

    def mirrored(value, path: str):
        if isinstance(value, list) and value and all(isinstance(text, str) for text in value):
            found.add(path)
        elif isinstance(value, list):
            for index, element in enumerate(value):
                mirrored(element, f"{path}/{index}")
        elif isinstance(value, dict):
            for key, element in value.items():
                mirrored(element, f"{path}/{key}")

    def pointed(value):
        if isinstance(value, list):
            for element in value:
                pointed(element)
        elif isinstance(value, dict):
            if isinstance(value.get("pointer"), str):
                found.add(value["pointer"].removeprefix("#"))
            if isinstance(value.get("loc"), list):
                found.add("/" + "/".join(str(step) for step in value["loc"] if step != "body"))
            for element in value.values():
                pointed(element)

    pointed(body)
    if isinstance(body, dict) and "detail" not in body and "error" not in body:
        mirrored(body, "")
    return found


def score(fault: Fault, answer: Answer | None) -> dict[str, bool | None]:
    """Each fact: told, not told, or None where the fault has no such fact."""
    marks: dict[str, bool | None] = dict.fromkeys(FACTS)
    if answer is None:
        return {fact: False for fact in applicable(fault)} | {fact: None for fact in FACTS if fact not in applicable(fault)}
    text = answer.body.decode("utf-8", "replace")
    body = parsed(answer)
    is_json = "json" in (answer.header("Content-Type") or "") and body is not None
    named = places(body)
    delay = answer.header("Retry-After") or ""
    told = {
        "right status": answer.status in fault.statuses,
        "JSON body": is_json,
        "machine code": bool(answer.header("X-Error-Code") or (is_json and codes(body))),
        "all field errors": all(any(pointer.split("/")[-1] in place.split("/") for place in named) for pointer in fault.pointers),
        "place of each field": all(pointer in named for pointer in fault.pointers),
        "request id": answer.header("X-Request-Id") == "req-1",
        "right Retry-After": delay.isdigit() and 0 < int(delay) <= fault.delay_at_most,
        "no internals": not any(word in text for word in INTERNALS),
        "localized": (answer.header("Content-Language") or "") == "es" or bool(SPANISH.search(text)),
    }
    for fact in applicable(fault):
        marks[fact] = told[fact]
    if answer.status < 400:
        # A success tells nothing about a fault that it did not see.
        for fact in applicable(fault):
            marks[fact] = False
    return marks


def applicable(fault: Fault) -> list[str]:
    facts = ["right status", "machine code", "request id", "no internals"]
    if fault.has_body:
        facts += ["JSON body", "localized"]
    if fault.pointers:
        facts += ["all field errors", "place of each field"]
    if fault.names_delay:
        facts += ["right Retry-After"]
    return facts
