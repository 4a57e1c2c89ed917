"""FastAPI: what the contract asks for; validation, dependencies that clean up, WebSockets that depend on something."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
from typing import Annotated, Any

from fastapi import BackgroundTasks, Body, Depends, FastAPI, Form, HTTPException, Request, Response, UploadFile
from fastapi.responses import FileResponse, StreamingResponse
from fastapi.websockets import WebSocket, WebSocketDisconnect
from pydantic import BaseModel

done: list[str] = []


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI):
    yield {"started": ["here"]}
    print("the application has stopped", flush=True)


app = FastAPI(lifespan=lifespan)


class Item(BaseModel):
    title: str
    price: float


async def session():
    """A dependency that is entered before the view and left after it."""
    yield "a session"
    done.append("the session is closed")


@app.get("/")
async def index(request: Request):
    return {"framework": "fastapi", "query": dict(request.query_params)}


@app.get("/name/{name:path}")
async def name(name: str):
    return {"name": name}


@app.post("/json")
async def as_json(value: Annotated[Any, Body()]):
    return value


@app.post("/items")
def item(item: Item, session: Annotated[str, Depends(session)]):
    """An ordinary function, which FastAPI runs on a thread."""
    return {"item": item, "session": session}


@app.post("/form")
async def form(request: Request):
    return dict(await request.form())


@app.post("/upload")
async def upload(title: Annotated[str, Form()], file: UploadFile):
    content = await file.read()
    digest = hashlib.sha256(content).hexdigest()
    return {"title": title, "name": file.filename, "size": len(content), "sha256": digest}


@app.put("/size")
async def size(request: Request):
    return {"size": sum([len(piece) async for piece in request.stream()])}


@app.get("/stream/{count}")
async def stream(count: int):
    async def lines():
        for number in range(count):
            yield f"line {number}\n"
            await asyncio.sleep(0)

    return StreamingResponse(lines(), media_type="text/plain")


@app.get("/file")
async def file():
    return FileResponse(os.environ["SERVED_FILE"], filename="paper.bin")


@app.get("/cookies")
async def cookies(response: Response):
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return "two"


@app.post("/later/{word}", status_code=202)
async def later(word: str, tasks: BackgroundTasks):
    tasks.add_task(done.append, word)
    return {"accepted": word}


@app.get("/done")
async def finished():
    return done


@app.get("/started")
async def started(request: Request):
    return request.state.started


@app.get("/raise")
async def fail():
    raise RuntimeError("raised on purpose")


@app.get("/patient")
async def patient(request: Request):
    """Answers nobody: looks until the client has gone."""
    while not await request.is_disconnected():
        await asyncio.sleep(0.005)
    done.append("the patient one has noticed")


@app.get("/teapot")
async def teapot():
    raise HTTPException(418, "short and stout", {"x-pot": "tea"})


@app.websocket("/echo")
async def echo(websocket: WebSocket, session: Annotated[str, Depends(session)]):
    await websocket.accept(subprotocol="echo" if "echo" in websocket.scope["subprotocols"] else None)
    while (message := await websocket.receive())["type"] == "websocket.receive":
        if message.get("text") == "please close":
            await websocket.close(4321, "as you wish")
            return
        if message.get("text") is not None:
            await websocket.send_text(message["text"])
        else:
            await websocket.send_bytes(message["bytes"])
    done.append(f"websocket {message['code']} {message.get('reason')}")


@app.websocket("/json")
async def json_only(websocket: WebSocket):
    await websocket.accept()
    try:
        while True:
            await websocket.send_json({"you sent": await websocket.receive_json()})
    except WebSocketDisconnect as gone:
        done.append(f"json {gone.code}")
