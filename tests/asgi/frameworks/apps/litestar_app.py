"""Litestar: what the contract asks for, server-sent events, and a WebSocket listener."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
from typing import Annotated, Any

import msgspec
from litestar import Litestar, Request, Response, WebSocket, get, post, put, websocket, websocket_listener
from litestar.background_tasks import BackgroundTask
from litestar.datastructures import State, UploadFile
from litestar.enums import RequestEncodingType
from litestar.exceptions import WebSocketDisconnect
from litestar.logging import LoggingConfig
from litestar.params import Body
from litestar.response import File, ServerSentEvent, ServerSentEventMessage, Stream

done: list[str] = []
Form = Annotated[dict[str, str], Body(media_type=RequestEncodingType.URL_ENCODED)]


@contextlib.asynccontextmanager
async def lifespan(app: Litestar):
    app.state.started = ["here"]
    yield
    print("the application has stopped", flush=True)


class Item(msgspec.Struct):
    title: str
    price: float


class Upload(msgspec.Struct):
    title: str
    file: UploadFile


@get("/")
async def index(request: Request) -> dict[str, Any]:
    return {"framework": "litestar", "query": dict(request.query_params)}


@get("/name/{name:path}")
async def name(name: str) -> dict[str, str]:
    return {"name": name.removeprefix("/")}


@post("/json", status_code=200)
async def as_json(request: Request) -> Any:
    return await request.json()


@post("/items", status_code=200)
async def item(data: Item) -> Item:
    return data


@post("/form", status_code=200)
async def form(request: Request) -> dict[str, str]:
    return dict(await request.form())


@post("/upload", status_code=200)
async def upload(data: Annotated[Upload, Body(media_type=RequestEncodingType.MULTI_PART)]) -> dict[str, Any]:
    content = await data.file.read()
    digest = hashlib.sha256(content).hexdigest()
    return {"title": data.title, "name": data.file.filename, "size": len(content), "sha256": digest}


@put("/size")
async def size(request: Request) -> dict[str, int]:
    return {"size": sum([len(piece) async for piece in request.stream()])}


@get("/stream/{count:int}")
async def stream(count: int) -> Stream:
    async def lines():
        for number in range(count):
            yield f"line {number}\n"
            await asyncio.sleep(0)

    return Stream(lines(), media_type="text/plain")


@get("/file")
async def file() -> File:
    return File(os.environ["SERVED_FILE"], filename="paper.bin")


@get("/cookies")
async def cookies() -> Response[str]:
    response = Response("two")
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return response


async def remember(word: str) -> None:
    await asyncio.sleep(0.01)
    done.append(word)


@post("/later/{word:str}", status_code=202)
async def later(word: str) -> Response[dict[str, str]]:
    return Response({"accepted": word}, background=BackgroundTask(remember, word))


@get("/done")
async def finished() -> list[str]:
    return done


@get("/started")
async def started(state: State) -> list[str]:
    return state.started


@get("/raise")
async def fail() -> None:
    raise RuntimeError("raised on purpose")


@get("/events")
async def events() -> ServerSentEvent:
    async def each():
        for number in range(3):
            yield ServerSentEventMessage(data=f"number {number}", event="count", id=str(number))

    return ServerSentEvent(each())


@websocket("/echo")
async def echo(socket: WebSocket) -> None:
    await socket.accept(subprotocols="echo" if "echo" in socket.scope["subprotocols"] else None)
    try:
        while (data := await receive(socket)) != "please close":
            await socket.send_data(data, "text" if isinstance(data, str) else "binary")
        await socket.close(4321, "as you wish")
    except WebSocketDisconnect as gone:
        done.append(f"websocket {gone.code} {gone.detail}")


async def receive(socket: WebSocket) -> str | bytes:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(code=message["code"], detail=message.get("reason") or "")
    return message["text"] if message.get("text") is not None else message["bytes"]


@websocket_listener("/double")
async def double(data: dict[str, int]) -> dict[str, int]:
    return {key: 2 * value for key, value in data.items()}


app = Litestar(
    [index, name, as_json, item, form, upload, size, stream, file, cookies, later, finished, started, fail, events]
    + [echo, double],
    lifespan=[lifespan],
    openapi_config=None,
    logging_config=LoggingConfig(log_exceptions="always"),
)
