"""A Flask application, which is WSGI, under a2wsgi, which makes ASGI of it."""

from __future__ import annotations

import hashlib
import os

from a2wsgi import WSGIMiddleware
from flask import Flask, Response, jsonify, request, send_file

flask = Flask(__name__)


@flask.get("/")
def index():
    return {"framework": "flask", "query": request.args.to_dict()}


@flask.get("/name/<path:name>")
def name(name):
    return {"name": name}


@flask.post("/json")
def as_json():
    return jsonify(request.get_json())


@flask.post("/form")
def form():
    return request.form.to_dict()


@flask.post("/upload")
def upload():
    file = request.files["file"]
    content = file.read()
    return {
        "title": request.form["title"],
        "name": file.filename,
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


@flask.put("/size")
def size():
    total = 0
    while piece := request.stream.read(65536):
        total += len(piece)
    return {"size": total}


@flask.get("/stream/<int:count>")
def stream(count):
    return Response((f"line {number}\n" for number in range(count)), mimetype="text/plain")


@flask.get("/file")
def file():
    return send_file(os.environ["SERVED_FILE"], as_attachment=True, download_name="paper.bin")


@flask.get("/cookies")
def cookies():
    response = Response("two")
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return response


@flask.get("/raise")
def fail():
    raise RuntimeError("raised on purpose")


@flask.get("/environ")
def environ():
    return {key: value for key, value in request.environ.items() if isinstance(value, str)}


def application(environ, start_response):
    """Flask, told that a body without a length has an end, which a2wsgi does not say."""
    return flask.wsgi_app(environ | {"wsgi.input_terminated": True}, start_response)


app = WSGIMiddleware(application)
