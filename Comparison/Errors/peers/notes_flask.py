"""The notes API on Flask, as its documentation would have it: the pages that it makes by itself, and errors as JSON."""
import json
import socket

from flask import Flask, abort, request
from werkzeug.exceptions import HTTPException

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 65_536


@app.errorhandler(HTTPException)
def as_json(error):
    """Flask's documented handler; pages under /pages stay HTML."""
    response = error.get_response()
    if not request.path.startswith("/pages"):
        response.data = json.dumps({"code": error.code, "name": error.name, "description": error.description})
        response.content_type = "application/json"
    return response


@app.post("/notes")
def create():
    note = request.get_json()
    if not isinstance(note, dict) or "title" not in note:
        abort(422, "title is required")
    if note["title"] == "taken":
        abort(409)
    return {"id": 2}, 201


@app.get("/notes/<int:number>")
def read(number):
    if number != 1:
        abort(404)
    return {"id": 1}


@app.get("/me")
def me():
    abort(401)


@app.get("/private")
def private():
    abort(403)


@app.get("/limited")
def limited():
    abort(429)


@app.get("/throws")
@app.get("/pages/throws")
def throws():
    raise RuntimeError("SELECT hunter2 FROM secrets failed in /srv/notes/store.py")


@app.get("/dependency")
def dependency():
    try:
        socket.create_connection(("127.0.0.1", 1), timeout=1).close()
    except OSError:
        abort(503)
    return {}
