"""Quart: what the contract asks for, and a WebSocket that is refused."""

from __future__ import annotations

import asyncio
import hashlib
import os

from quart import Quart, Response, abort, jsonify, request, send_file, websocket

app = Quart(__name__)
app.config["MAX_CONTENT_LENGTH"] = 4 * 1024 * 1024
done: list[str] = []
started_with: list[str] = []


@app.before_serving
async def start():
    started_with.append("here")


@app.after_serving
async def stop():
    print("the application has stopped", flush=True)


@app.get("/")
async def index():
    return {"framework": "quart", "query": request.args.to_dict()}


@app.get("/name/<path:name>")
async def name(name):
    return {"name": name}


@app.post("/json")
async def as_json():
    return jsonify(await request.get_json())


@app.post("/form")
async def form():
    return (await request.form).to_dict()


@app.post("/upload")
async def upload():
    title = (await request.form)["title"]
    file = (await request.files)["file"]
    content = file.read()
    return {
        "title": title,
        "name": file.filename,
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


@app.put("/size")
async def size():
    return {"size": sum([len(piece) async for piece in request.body])}


@app.get("/stream/<int:count>")
async def stream(count):
    async def lines():
        for number in range(count):
            yield f"line {number}\n"
            await asyncio.sleep(0)

    return Response(lines(), mimetype="text/plain")


@app.get("/file")
async def file():
    return await send_file(os.environ["SERVED_FILE"], as_attachment=True, attachment_filename="paper.bin")


@app.get("/cookies")
async def cookies():
    response = Response("two")
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return response


@app.post("/later/<word>")
async def later(word):
    async def remember():
        await asyncio.sleep(0.01)
        done.append(word)

    app.add_background_task(remember)
    return {"accepted": word}, 202


@app.get("/done")
async def finished():
    return jsonify(done)


@app.get("/started")
async def started():
    return jsonify(started_with)


@app.get("/raise")
async def fail():
    raise RuntimeError("raised on purpose")


@app.get("/thread")
def on_a_thread():
    """An ordinary function, which Quart runs on a thread."""
    return {"method": request.method}


@app.websocket("/echo")
async def echo():
    await websocket.accept(subprotocol="echo" if "echo" in websocket.requested_subprotocols else None)
    try:
        while (data := await websocket.receive()) != "please close":
            await websocket.send(data)
        await websocket.close(4321, "as you wish")
    except asyncio.CancelledError:
        done.append("websocket cancelled")
        raise


@app.websocket("/denied")
async def denied():
    abort(401)
