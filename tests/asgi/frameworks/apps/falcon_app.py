"""Falcon's ASGI side: what the contract asks for, and server-sent events."""

from __future__ import annotations

import asyncio
import hashlib
import os

import falcon.asgi
from falcon import HTTP_200, HTTP_202, WebSocketDisconnected
from falcon.asgi import SSEvent

done: list[str] = []


class Lifespan:
    """Middleware that takes part in the start and the end."""

    async def process_startup(self, scope, event):
        Started.state = ["here"]

    async def process_shutdown(self, scope, event):
        print("the application has stopped", flush=True)


class Index:
    async def on_get(self, request, response):
        response.media = {"framework": "falcon", "query": dict(request.params)}


class Name:
    async def on_get(self, request, response, name):
        response.media = {"name": name}


class Json:
    async def on_post(self, request, response):
        response.media = await request.get_media()


class Upload:
    async def on_post(self, request, response):
        told = {}
        async for part in await request.get_media():
            if part.name == "file":
                content = await part.stream.read()
                told["name"] = part.filename
                told["size"] = len(content)
                told["sha256"] = hashlib.sha256(content).hexdigest()
            else:
                told[part.name] = await part.text
        response.media = told


class Size:
    async def on_put(self, request, response):
        response.media = {"size": sum([len(piece) async for piece in request.stream])}


class Stream:
    async def on_get(self, request, response, count):
        response.content_type = "text/plain"
        response.stream = self.lines(count)

    async def lines(self, count):
        for number in range(count):
            yield f"line {number}\n".encode()
            await asyncio.sleep(0)


class File:
    async def on_get(self, request, response):
        path = os.environ["SERVED_FILE"]
        response.downloadable_as = "paper.bin"
        response.set_stream(self.pieces(path), os.path.getsize(path))

    async def pieces(self, path):
        with open(path, "rb") as file:
            while piece := file.read(65536):
                yield piece


class Cookies:
    async def on_get(self, request, response):
        response.set_cookie("one", "1")
        response.set_cookie("two", "2")
        response.text = "two"


class Later:
    async def on_post(self, request, response, word):
        async def remember():
            await asyncio.sleep(0.01)
            done.append(word)

        response.schedule(remember)
        response.status = HTTP_202
        response.media = {"accepted": word}


class Done:
    async def on_get(self, request, response):
        response.media = done


class Started:
    state: list[str] = []

    async def on_get(self, request, response):
        response.media = self.state


class Raise:
    async def on_get(self, request, response):
        raise RuntimeError("raised on purpose")


class Events:
    async def on_get(self, request, response):
        response.status = HTTP_200
        response.sse = self.each()

    async def each(self):
        for number in range(3):
            yield SSEvent(text=f"number {number}", event="count", event_id=str(number))


class Echo:
    async def on_websocket(self, request, websocket):
        await websocket.accept("echo" if "echo" in websocket.subprotocols else None)
        try:
            while (data := await self.receive(websocket)) != "please close":
                await (websocket.send_text if isinstance(data, str) else websocket.send_data)(data)
            await websocket.close(4321, "as you wish")
        except WebSocketDisconnected as gone:
            done.append(f"websocket {gone.code}")

    async def receive(self, websocket):
        message = await websocket._receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnected(message["code"])
        return message["text"] if message.get("text") is not None else message["bytes"]


app = falcon.asgi.App(middleware=[Lifespan()])
app.add_route("/", Index())
app.add_route("/name/{name:path}", Name())
app.add_route("/json", Json())
app.add_route("/form", Json())
app.add_route("/upload", Upload())
app.add_route("/size", Size())
app.add_route("/stream/{count:int}", Stream())
app.add_route("/file", File())
app.add_route("/cookies", Cookies())
app.add_route("/later/{word}", Later())
app.add_route("/done", Done())
app.add_route("/started", Started())
app.add_route("/raise", Raise())
app.add_route("/events", Events())
app.add_route("/echo", Echo())
