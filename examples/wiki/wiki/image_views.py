"""The views of images: the list with the form to upload one, and the images themselves."""

from __future__ import annotations

from collections.abc import Iterator

from . import layout
from .csrf import Csrf
from .images import MAX_SIZE, Image, ImageRefused, Images, NameTaken
from .multipart import MultipartError, Part, parts
from .request import HttpError, Request
from .response import Response, file, private_html, see_other
from .template import Html, fill, join
from .urls import Urls


class ImageViews:
    """Answers requests about the images in ``images``."""

    def __init__(self, images: Images, csrf: Csrf) -> None:
        self._images = images
        self._csrf = csrf

    def index(self, request: Request) -> Response:
        """All images, and the form to upload one."""
        token, headers = self._csrf.issue(request)
        items = join(_item(request.urls, image) for image in self._images.all())
        content = fill(_IMAGES, action=request.urls.of("images"), token=token, items=items)
        return private_html(layout.document(request.urls, "Images", content), 200, headers)

    def upload(self, request: Request) -> Response:
        """Take the form of ``index``."""
        body = request.body(MAX_SIZE + _FORM_OVERHEAD)
        try:
            self._receive(request, parts(body, request.content_type))
        except MultipartError as error:
            raise HttpError(400, f"The form cannot be read: {error}.") from None
        except ImageRefused as refused:
            raise HttpError(415, str(refused)) from None
        except NameTaken as taken:
            raise HttpError(409, f"There is another image called {taken}. Rename yours.") from None
        return see_other(request.urls.of("images"))

    def show(self, request: Request, name: str) -> Response:
        """The content of an image."""
        image = self._images.find(name)
        if image is None:
            raise HttpError(404, f"There is no image called {name}.")
        content = self._images.open(image)
        return file(content, image.size, image.media_type, f'"{image.digest[:32]}"')

    def _receive(self, request: Request, form: Iterator[Part]) -> None:
        """Keep the file of the form, which must come after the token: nothing is stored unchecked."""
        trusted, received = False, False
        for part in form:
            if part.name == "token":
                self._csrf.check(request, part.text(_MAX_TOKEN))
                trusted = True
            elif part.name == "file" and part.filename:
                if not trusted:
                    raise HttpError(403, "The token must come before the file.")
                self._images.add(part.filename, part)
                received = True
        if not received:
            raise HttpError(400, "Choose a file to upload.")


def _item(urls: Urls, image: Image) -> Html:
    size = f"{image.size / 1024:.1f} KB"
    return fill(_ITEM, href=urls.image(image.name), name=image.name, size=size)


_FORM_OVERHEAD = 8 * 1024  # bytes of the other parts and of the boundaries
_MAX_TOKEN = 200  # bytes

_IMAGES = """\
<h1>Images</h1>
<form method="post" action="{action}" enctype="multipart/form-data">
<input type="hidden" name="token" value="{token}">
<div class="row">
<input type="file" name="file" accept="image/png,image/jpeg,image/gif,image/webp" required
 aria-label="Image">
<button>Upload</button>
</div>
</form>
<ul class="list">{items}</ul>"""
_ITEM = """\
<li><a href="{href}">{name}</a> <span class="note">{size} · write <code>![]({name})</code></span></li>"""
