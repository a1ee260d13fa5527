"""Starts the servers of the comparison on free ports, each with a folder of its own, and stops them by their process."""
import contextlib
import http.client
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


@dataclass
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ask(port: int, method: str, path: str, headers: dict[str, str], body: bytes | None, timeout: float = 8) -> Answer | None:
    """One request on a connection of its own; None if no answer came."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders()
        # A server may answer and close before it has read a body that is too large.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if body:
                connection.send(body)
        response = connection.getresponse()
        return Answer(response.status, response.getheaders(), response.read())
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


@contextlib.contextmanager
def process(command: list[str], port: int, environment: dict[str, str] | None = None, folder: pathlib.Path = HERE):
    child = subprocess.Popen(
        command, cwd=folder, env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )
    try:
        for _ in range(300):
            if child.poll() is not None:
                sys.exit(f"error: {' '.join(command)} ended with {child.returncode} before it listened")
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=0.2):
                break
            time.sleep(0.1)
        else:
            sys.exit(f"error: {' '.join(command)} does not listen on {port}")
        yield port
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGTERM)
        try:
            child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


@contextlib.contextmanager
def silent():
    """A server that takes connections and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        yield listener.getsockname()[1]


def django():
    port = free_port()
    command = ["-m", "gunicorn", "--chdir", str(HERE / "peers"), "--bind", f"127.0.0.1:{port}", "--timeout", "3", "notes_drf:application"]
    return process([sys.executable, *command], port)


def fastapi():
    port = free_port()
    command = ["-m", "uvicorn", "--app-dir", str(HERE / "peers"), "--port", str(port), "--timeout-graceful-shutdown", "1", "notes_fastapi:app"]
    return process([sys.executable, *command], port)


def flask():
    port = free_port()
    command = ["-m", "gunicorn", "--chdir", str(HERE / "peers"), "--bind", f"127.0.0.1:{port}", "notes_flask:app"]
    return process([sys.executable, *command], port)


def notes_server(*arguments: str):
    """The Swift notes server: with `--bare` what Hummingbird does by itself, else behind ServerMiddleware."""
    binary = os.environ.get("NOTES_SERVER")
    if not binary:
        sys.exit("error: NOTES_SERVER is not set; run this through scripts/compare-errors")
    port = free_port()
    return process([binary, "--port", str(port), *arguments], port)


@contextlib.contextmanager
def edge(configuration: str, command: list[str]):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-edge-"))
    port = free_port()
    try:
        with silent() as silent_port:
            text = (HERE / "peers" / configuration).read_text()
            for word, value in (("FOLDER", str(folder)), ("SILENT", str(silent_port)), ("PORT", str(port))):
                text = text.replace(word, value)
            (folder / configuration).write_text(text)
            with process([*command, str(folder / configuration)], port, folder=folder):
                yield port
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def nginx():
    return edge("nginx.conf", [shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin") or "nginx", "-e", "/dev/null", "-c"])


def haproxy():
    return edge("haproxy.cfg", [shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin") or "haproxy", "-f"])


def tokens(module: str) -> tuple[str, str]:
    """A valid and an expired token of a peer."""
    made = []
    for lifetime in ("3600", "-3600"):
        result = subprocess.run(
            [sys.executable, str(HERE / "peers" / f"{module}.py")],
            env={**os.environ, "TOKEN_LIFETIME": lifetime}, capture_output=True, text=True, check=True,
        )
        made.append(result.stdout.strip())
    return made[0], made[1]
