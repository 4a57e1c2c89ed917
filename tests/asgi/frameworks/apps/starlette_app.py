"""Starlette: what the contract asks for; files, denied WebSockets, a stream that has no end, a middleware of functions."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute

done: list[str] = []
file_messages: list[str] = []


@contextlib.asynccontextmanager
async def lifespan(app):
    yield {"started": ["here"]}
    print("the application has stopped", flush=True)


async def index(request):
    return JSONResponse({"framework": "starlette", "query": dict(request.query_params)})


async def name(request):
    return JSONResponse({"name": request.path_params["name"]})


async def as_json(request):
    return JSONResponse(await request.json())


async def form(request):
    async with request.form() as fields:
        return JSONResponse(dict(fields))


async def upload(request):
    async with request.form() as fields:
        content = await fields["file"].read()
        digest = hashlib.sha256(content).hexdigest()
        return JSONResponse(
            {"title": fields["title"], "name": fields["file"].filename, "size": len(content), "sha256": digest}
        )


async def size(request):
    return JSONResponse({"size": sum([len(piece) async for piece in request.stream()])})


async def stream(request):
    async def lines():
        for number in range(request.path_params["count"]):
            yield f"line {number}\n"
            await asyncio.sleep(0)

    return StreamingResponse(lines(), media_type="text/plain")


class Noted:
    """The file's response, and what it told the server: pathsend or pieces."""

    def __init__(self, response):
        self.response = response

    async def __call__(self, scope, receive, send):
        async def noted(message):
            file_messages.append(message["type"])
            await send(message)

        file_messages.clear()
        await self.response(scope, receive, noted)


async def file(request):
    return Noted(FileResponse(os.environ["SERVED_FILE"], filename="paper.bin"))


async def sent(request):
    return JSONResponse(file_messages)


async def cookies(request):
    response = PlainTextResponse("two")
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return response


async def later(request):
    word = request.path_params["word"]

    async def remember():
        await asyncio.sleep(0.01)
        done.append(word)

    return JSONResponse({"accepted": word}, 202, background=BackgroundTask(remember))


async def finished(request):
    return JSONResponse(done)


async def started(request):
    return JSONResponse(request.state.started)


async def fail(request):
    raise RuntimeError("raised on purpose")


async def endless(request):
    async def pieces():
        try:
            while True:
                yield b"piece" * 1000
                await asyncio.sleep(0.001)
        finally:
            done.append("the endless stream has ended")

    return StreamingResponse(pieces())


async def echo(websocket):
    wanted = websocket.scope["subprotocols"]
    await websocket.accept(subprotocol="echo" if "echo" in wanted else None)
    while (message := await websocket.receive())["type"] == "websocket.receive":
        if message.get("text") == "please close":
            await websocket.close(4321, "as you wish")
            return
        if message.get("text") is not None:
            await websocket.send_text(message["text"])
        else:
            await websocket.send_bytes(message["bytes"])
    done.append(f"websocket {message['code']} {message.get('reason')}")


async def denied(websocket):
    await websocket.send_denial_response(JSONResponse({"error": "not you"}, 401, {"x-why": "no token"}))


async def stamp(request, call_next):
    response = await call_next(request)
    response.headers["x-stamp"] = request.url.path
    return response


app = Starlette(
    lifespan=lifespan,
    middleware=[Middleware(BaseHTTPMiddleware, dispatch=stamp)],
    routes=[
        Route("/", index),
        Route("/name/{name:path}", name),
        Route("/json", as_json, methods=["POST"]),
        Route("/form", form, methods=["POST"]),
        Route("/upload", upload, methods=["POST"]),
        Route("/size", size, methods=["PUT"]),
        Route("/stream/{count:int}", stream),
        Route("/file", file),
        Route("/sent", sent),
        Route("/cookies", cookies),
        Route("/later/{word}", later, methods=["POST"]),
        Route("/done", finished),
        Route("/started", started),
        Route("/raise", fail),
        Route("/endless", endless),
        WebSocketRoute("/echo", echo),
        WebSocketRoute("/denied", denied),
    ],
)
