"""Puts ours, bare Hummingbird, Django REST and FastAPI to the same faults and writes how their answers score into docs/contributing/comparison.md."""
import contextlib
import sys

import servers
from faults import faults
from score import FACTS, score

DOCUMENT = servers.ROOT / "docs" / "contributing" / "comparison.md"
BEGIN, END = "<!-- errors: written by scripts/compare-errors -->", "<!-- errors: end -->"

SERVERS = [
    ("Holdfast", lambda: servers.notes_server(), None),
    ("bare Hummingbird", lambda: servers.notes_server("--bare"), None),
    ("Django REST", servers.django, "notes_drf"),
    ("FastAPI", servers.fastapi, "notes_fastapi"),
]


def answers(start, module):
    made = servers.tokens(module) if module else ("valid", "expired")
    results = []
    with start() as port:
        for fault in faults(*made):
            headers = {"Accept": "application/json", "Accept-Language": "es", "X-Request-Id": "req-1", **fault.headers}
            for _ in range(fault.times):
                answer = servers.ask(port, fault.method, fault.path, headers, fault.body)
            results.append((fault, answer, score(fault, answer)))
            print(".", end="", flush=True, file=sys.stderr)
    return results


def main():
    columns = {}
    for name, start, module in SERVERS:
        print(f"{name} ", end="", flush=True, file=sys.stderr)
        columns[name] = answers(start, module)
        print(file=sys.stderr)
    names = list(columns)
    lines = [BEGIN, "", f"| property, of the faults to which it applies | {' | '.join(names)} |", "|---|" + "--:|" * len(names)]
    for fact in FACTS:
        cells = []
        for name in names:
            marks = [marks[fact] for _, _, marks in columns[name] if marks[fact] is not None]
            cells.append(f"{sum(marks)} of {len(marks)}")
        lines.append(f"| {fact} | {' | '.join(cells)} |")
    lines += ["", f"| fault: status, and missing properties | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for index, (fault, _, _) in enumerate(columns[names[0]]):
        cells = []
        for name in names:
            _, answer, marks = columns[name][index]
            missing = [fact for fact in FACTS if marks[fact] is False and fact != "right status"]
            status = "no response" if answer is None else str(answer.status)
            wrong = "" if marks["right status"] else " (!)"
            told = "all" if answer is None or answer.status < 400 else ", ".join(missing)
            cells.append(f"{status}{wrong}" + (f": {told}" if told else ""))
        lines.append(f"| {fault.name} | {' | '.join(cells)} |")
    lines += ["", END]
    text = DOCUMENT.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    DOCUMENT.write_text(before + "\n".join(lines) + after)
    print("\n".join(lines))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
