"""Django with Channels, in one file: what the contract asks for, views that are functions or coroutines, groups of WebSockets."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os

import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="of the tests",
    INSTALLED_APPS=["channels"],
    MIDDLEWARE=["django.middleware.common.CommonMiddleware", "django.middleware.http.ConditionalGetMiddleware"],
    CHANNEL_LAYERS={"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}},
    LOGGING={"version": 1, "disable_existing_loggers": False, "root": {"handlers": ["console"]}}
    | {"handlers": {"console": {"class": "logging.StreamHandler"}}},
)
django.setup()

from channels.generic.websocket import AsyncJsonWebsocketConsumer, AsyncWebsocketConsumer  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.core.asgi import get_asgi_application  # noqa: E402
from django.http import FileResponse, HttpResponse, JsonResponse, StreamingHttpResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.views.decorators.http import require_POST  # noqa: E402

done: list[str] = []
tasks: set[asyncio.Task[None]] = set()


async def index(request):
    return JsonResponse({"framework": "django", "query": request.GET.dict()})


async def name(request, name):
    return JsonResponse({"name": name})


@require_POST
def as_json(request):
    """An ordinary function, which Django runs on a thread."""
    return JsonResponse(json.loads(request.body), safe=False)


async def form(request):
    return JsonResponse(request.POST.dict())


def upload(request):
    file = request.FILES["file"]
    content = file.read()
    digest = hashlib.sha256(content).hexdigest()
    return JsonResponse({"title": request.POST["title"], "name": file.name, "size": len(content), "sha256": digest})


async def size(request):
    return JsonResponse({"size": len(request.read())})


async def stream(request, count):
    async def lines():
        for number in range(count):
            yield f"line {number}\n"
            await asyncio.sleep(0)

    return StreamingHttpResponse(lines(), content_type="text/plain")


def file(request):
    return FileResponse(open(os.environ["SERVED_FILE"], "rb"), as_attachment=True, filename="paper.bin")


async def cookies(request):
    response = HttpResponse("two")
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return response


async def later(request, word):
    async def remember():
        await asyncio.sleep(0.01)
        done.append(word)

    task = asyncio.create_task(remember())
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return JsonResponse({"accepted": word}, status=202)


async def finished(request):
    return JsonResponse(done, safe=False)


async def fail(request):
    raise RuntimeError("raised on purpose")


async def patient(request):
    """Waits for ever; Django cancels it when its client has gone."""
    done.append("the patient one waits")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        done.append("the patient one was cancelled")
        raise


class Echo(AsyncWebsocketConsumer):
    async def connect(self):
        await self.accept("echo" if "echo" in self.scope["subprotocols"] else None)

    async def receive(self, text_data=None, bytes_data=None):
        if text_data == "please close":
            await self.close(4321, "as you wish")
        else:
            await self.send(text_data, bytes_data)

    async def disconnect(self, code):
        done.append(f"websocket {code}")


class Group(AsyncJsonWebsocketConsumer):
    """Passes what one says on to all, through the channel layer."""

    async def connect(self):
        await self.channel_layer.group_add("all", self.channel_name)
        await self.accept()
        await self.send_json("welcome")

    async def receive_json(self, content):
        await self.channel_layer.group_send("all", {"type": "said", "content": content})

    async def said(self, event):
        await self.send_json(event["content"])

    async def disconnect(self, code):
        await self.channel_layer.group_discard("all", self.channel_name)


class Denied(AsyncWebsocketConsumer):
    async def connect(self):
        await self.close()


urlpatterns = [
    path("", index),
    path("name/<path:name>", name),
    path("json", as_json),
    path("form", form),
    path("upload", upload),
    path("size", size),
    path("stream/<int:count>", stream),
    path("file", file),
    path("cookies", cookies),
    path("later/<word>", later),
    path("done", finished),
    path("raise", fail),
    path("patient", patient),
]

websocket_urls = [
    path("echo", Echo.as_asgi()),
    path("group", Group.as_asgi()),
    path("denied", Denied.as_asgi()),
]

app = ProtocolTypeRouter({"http": get_asgi_application(), "websocket": URLRouter(websocket_urls)})
