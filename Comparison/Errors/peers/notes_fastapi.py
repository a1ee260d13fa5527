"""The notes API on FastAPI, as its documentation would have it, with slowapi for the limit."""
import asyncio
import os
import socket
import time
from typing import Annotated

import jwt
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.security import OAuth2PasswordBearer
from pydantic import BaseModel, Field
from slowapi import Limiter, _rate_limit_exceeded_handler
from slowapi.errors import RateLimitExceeded
from slowapi.util import get_remote_address

SECRET = "a secret of the comparison, forty bytes long"

app = FastAPI()
limiter = Limiter(key_func=get_remote_address, headers_enabled=True)
app.state.limiter = limiter
app.add_exception_handler(RateLimitExceeded, _rate_limit_exceeded_handler)
bearer = OAuth2PasswordBearer(tokenUrl="token")


class Item(BaseModel):
    name: str = Field(min_length=1)
    quantity: int = Field(ge=1)


class Note(BaseModel):
    title: str = Field(min_length=1, max_length=100)
    email: str = Field(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$")
    priority: int = Field(ge=1, le=5)
    items: list[Item]


def user(token: Annotated[str, Depends(bearer)]) -> int:
    try:
        return int(jwt.decode(token, SECRET, algorithms=["HS256"])["sub"])
    except jwt.InvalidTokenError:
        raise HTTPException(401, "Could not validate credentials", headers={"WWW-Authenticate": "Bearer"})


@app.post("/notes", status_code=201)
async def create(note: Note):
    if note.title == "taken":
        raise HTTPException(409, "A note with this title exists.")
    return {"id": 2, **note.model_dump()}


@app.get("/notes/{number}")
async def read(number: int):
    if number != 1:
        raise HTTPException(404, "Note not found")
    return {"id": 1, "title": "first"}


@app.get("/me")
async def me(person: Annotated[int, Depends(user)]):
    return {"id": person}


@app.get("/private")
async def private(person: Annotated[int, Depends(user)]):
    raise HTTPException(403, "Not enough permissions")


@app.get("/limited")
@limiter.limit("2/minute")
async def limited(request: Request):
    from fastapi.responses import JSONResponse

    return JSONResponse({"ok": True})


@app.get("/throws")
async def throws():
    raise RuntimeError("SELECT hunter2 FROM secrets failed in /srv/notes/store.py")


@app.get("/hangs")
async def hangs():
    await asyncio.sleep(3600)


@app.get("/dependency")
def dependency():
    try:
        socket.create_connection(("127.0.0.1", 1), timeout=1).close()
    except OSError:
        raise HTTPException(503, "The search index is not available.")
    return {}


def token(lifetime: float) -> str:
    return jwt.encode({"sub": "1", "exp": int(time.time() + lifetime)}, SECRET, algorithm="HS256")


if __name__ == "__main__":
    print(token(float(os.environ["TOKEN_LIFETIME"])))
