"""Writes each labelled body as a seed for the fuzzer: the status, the headers, an empty line, the body."""
import json
import pathlib
import sys

source, target = map(pathlib.Path, sys.argv[1:])
target.mkdir(parents=True)
for file in sorted(source.rglob("*.json*")):
    text = file.read_text()
    entries = json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines() if line.strip()]
    for number, entry in enumerate(entries):
        if "json" in entry:
            body = json.dumps(entry["json"], separators=(",", ":"), ensure_ascii=False).encode()
        else:
            pad = entry.get("pad", {"with": "", "count": 0})
            text = entry.get("text", "").replace("PAD", pad["with"] * min(pad["count"], 100))
            body = bytes.fromhex(entry["hex"]) if "hex" in entry else text.encode()
        lines = [str(entry["status"])] + [f"{name}:{value}" for name, value in entry.get("headers", {}).items()]
        (target / f"{file.stem}-{number}").write_bytes("\n".join(lines).encode() + b"\n\n" + body)
