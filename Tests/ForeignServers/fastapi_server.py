"""A FastAPI backend with slowapi, configured like in their documentation, for the tests of foreign errors.

Usage: python fastapi_server.py. It listens on a free port of 127.0.0.1 and prints the port.
"""

import socket
from typing import Annotated

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.security import OAuth2PasswordBearer
from pydantic import BaseModel, EmailStr, Field
from slowapi import Limiter, _rate_limit_exceeded_handler
from slowapi.errors import RateLimitExceeded
from slowapi.util import get_remote_address

app = FastAPI()
limiter = Limiter(key_func=get_remote_address)
app.state.limiter = limiter
app.add_exception_handler(RateLimitExceeded, _rate_limit_exceeded_handler)
bearer = OAuth2PasswordBearer(tokenUrl="token")

# The same with the headers of the limit, which slowapi omits by default.
told = Limiter(key_func=get_remote_address, headers_enabled=True)


class Item(BaseModel):
    name: str


class Account(BaseModel):
    email: EmailStr
    password: str = Field(min_length=8)
    quantity: int = Field(default=1, ge=1)
    items: list[Item] = []


class SignIn(BaseModel):
    username: str
    password: str


@app.post("/accounts", status_code=201)
def accounts(account: Account):
    return {}


@app.get("/search")
def search(page: int):
    return {}


@app.post("/token")
def token(sign_in: SignIn):
    raise HTTPException(401, "Incorrect username or password", headers={"WWW-Authenticate": "Bearer"})


@app.get("/me")
def me(access: Annotated[str, Depends(bearer)]):
    raise HTTPException(401, "Could not validate credentials", headers={"WWW-Authenticate": "Bearer"})


@app.get("/items/{key}")
def item(key: int):
    if key == 7:
        raise HTTPException(403)
    if key == 8:
        raise HTTPException(409, {"code": "OUT_OF_STOCK", "message": "Only 2 left", "left": 2})
    if key == 9:
        raise HTTPException(404, "No encontramos ese artículo", headers={"Content-Language": "es"})
    raise HTTPException(404, "Item not found")


@app.get("/limited")
@limiter.limit("1/hour")
def limited(request: Request):
    return {}


@app.get("/broken")
def broken():
    raise RuntimeError("relation users does not exist")


told_app = FastAPI()
told_app.state.limiter = told
told_app.add_exception_handler(RateLimitExceeded, _rate_limit_exceeded_handler)


@told_app.get("/limited")
@told.limit("1/hour")
async def told_limited(request: Request):
    from fastapi.responses import JSONResponse

    return JSONResponse({})


app.mount("/told", told_app)

if __name__ == "__main__":
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])
