"""Runs several rate limiters on one trace of requests with a fake clock, and writes a table of the results.

usage: compare.py DOCUMENT NAME=COMMAND…

Each command is a runner: it reads commands from lines and writes a line for each.
    init QUOTA WINDOW TRACE   the limit, in nanoseconds, and the file of the trace: an instant and a key per line
    run                       a line per request: "1", or "0 WAIT" with the wait that the limiter reports
    probe NUMBER INSTANT      "1" if the key of that request would be admitted at an instant, after the requests before it
    time                      nanoseconds per decision over the trace
    bytes COUNT               bytes per key, with COUNT keys of one request each
"""

import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile

QUOTA, WINDOW = 10, 60_000_000_000
SECOND = 1_000_000_000
START = 1_700_000_000 // 60 * 60 * SECOND
SAMPLES = 40


def trace():
    """Boundary attacks, bursts, refused floods and a client that retries all the time, as sorted instants and keys."""
    chance = random.Random(7)
    requests = []
    for client in range(40):
        for minute in (1, 2, 3):
            edge = START + minute * WINDOW
            for _ in range(QUOTA):
                requests.append((edge - chance.randrange(1, 5_000_000), f"boundary-{client}"))
                requests.append((edge + chance.randrange(0, 5_000_000), f"boundary-{client}"))
    for client in range(40):
        for _ in range(40):
            instant = START + chance.randrange(600 * SECOND)
            for _ in range(chance.randrange(1, 16)):
                instant += chance.randrange(200_000_000)
                requests.append((instant, f"burst-{client}"))
    for client in range(10):
        edge = START + (client + 2) * WINDOW
        requests += [(edge - 1_000_000 + step, f"trickle-{client}") for step in range(QUOTA)]
        requests += [(edge + step * SECOND, f"trickle-{client}") for step in range(60)]
        requests += [(edge + 2 * WINDOW, f"late-{client}")]
        requests += [(edge + 3 * WINDOW + step - 1_000, f"late-{client}") for step in range(2 * QUOTA)]
    for client in range(5):
        requests += [(START + client * SECOND + step * 20_000_000, f"flood-{client}") for step in range(3_500)]
    for client in range(10):
        requests += [(START + client * 77_000_000 + step * 500_000_000, f"steady-{client}") for step in range(1_200)]
    return sorted(requests)


def over_admissions(requests, answers):
    """The most admissions of any key in a half-open window, and the number of admissions beyond the quota."""
    admitted, most, beyond = {}, 0, 0
    for (instant, key), answer in zip(requests, answers):
        if answer[0] != "1":
            continue
        kept = [earlier for earlier in admitted.get(key, []) if instant - earlier < WINDOW] + [instant]
        admitted[key] = kept
        most = max(most, len(kept))
        beyond += len(kept) > QUOTA
    return most, beyond


class Runner:
    def __init__(self, name, command, file):
        self.name = name
        self.process = subprocess.Popen(command, shell=True, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ask(f"init {QUOTA} {WINDOW} {file}")

    def ask(self, line, count=1):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answers = [self.process.stdout.readline().split() for _ in range(count)]
        if not all(answers):
            sys.exit(f"{self.name} does not answer to: {line}")
        return answers if count > 1 else answers[0]

    def true_wait(self, number, now):
        """The shortest wait after which the refused request would have been admitted, without other requests."""
        low, high = 0, 4 * WINDOW
        while high - low > 1:
            middle = (low + high) // 2
            if self.ask(f"probe {number} {now + middle}")[0] == "1":
                high = middle
            else:
                low = middle
        return high

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


def seconds(nanoseconds):
    if nanoseconds == 0:
        return "0"
    if abs(nanoseconds) < 1_000:
        return f"{nanoseconds:+} ns"
    if abs(nanoseconds) < 1_000_000:
        return f"{nanoseconds / 1e3:+.1f} µs"
    if abs(nanoseconds) < SECOND:
        return f"{nanoseconds / 1e6:+.0f} ms"
    return f"{nanoseconds / 1e9:+.1f} s"


def row(name, command, requests, file):
    runner = Runner(name, command, file)
    answers = runner.ask("run", len(requests))
    most, beyond = over_admissions(requests, answers)
    refused = [number for number, answer in enumerate(answers) if answer[0] == "0"]
    errors = []
    for number in random.Random(1).sample(refused, min(SAMPLES, len(refused))):
        errors.append(int(answers[number][1]) - runner.true_wait(number, requests[number][0]))
    nanoseconds = float(runner.ask("time")[0])
    size = float(runner.ask("bytes 100000")[0])
    runner.close()
    print(f"{name}: at most {most}, {beyond} beyond, {nanoseconds:.0f} ns, {size:.0f} B", file=sys.stderr)
    return (
        f"| {name} | {most} | {beyond:,} | {seconds(min(errors))} … {seconds(max(errors))} "
        f"| {seconds(int(statistics.median(map(abs, errors)))).lstrip('+')} | {nanoseconds:,.0f} | {size:,.0f} |"
    )


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if pathlib.Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


TITLE = """# Comparison

This page compares Holdfast with other libraries under the same requests. Each section names the script that runs the comparison and writes the results. Each peer is
configured as its documentation describes; further configuration is not considered.
"""

SECTION = """
## Rate limiters

`scripts/compare-limiters` sends one trace of {count:,} requests by {clients} clients to each limiter, on a fake clock, under a limit of 10 in 60 s.
The trace contains floods of requests, bursts, and requests at the edges of fixed windows. The script counts admissions in every half-open
window of 60 s. It finds the true delay with a copy of the limiter, which it calls at later instants until the request is admitted. Delays
of a peer that represents time as a floating-point number, as Python's clock does, deviate by some 100 ns for this reason alone. The time
per decision was measured on {processor} with one thread and texts as keys. Bytes are the resident memory of 100,000 keys of one request each.
"""


def write(document, rows, requests):
    begin, end = "<!-- limiters: written by scripts/compare-limiters -->", "<!-- end of limiters -->"
    section = SECTION.format(count=len(requests), clients=len({key for _, key in requests}), processor=processor())
    table = "\n".join(
        [
            "",
            "| limiter | most in any 60 s | admissions beyond 10 | reported − true delay | median of it | ns per decision | bytes per key |",
            "|---|--:|--:|--:|--:|--:|--:|",
            *rows,
            "",
        ]
    )
    text = document.read_text() if document.exists() else TITLE
    if begin in text:
        before, rest = text.split(begin, 1)
        after = rest.split(end, 1)[1]
    else:
        before, after = text.rstrip("\n") + "\n", "\n"
    # The section's text is between the markers too, so that it describes the trace that was run.
    document.write_text(before.rstrip("\n") + "\n\n" + begin + "\n" + section + table + "\n" + end + after)


def main():
    document = pathlib.Path(sys.argv[1])
    requests = trace()
    with tempfile.NamedTemporaryFile("w", suffix=".trace") as file:
        file.writelines(f"{instant} {key}\n" for instant, key in requests)
        file.flush()
        rows = [row(*argument.split("=", 1), requests, file.name) for argument in sys.argv[2:]]
    write(document, rows, requests)


main()
