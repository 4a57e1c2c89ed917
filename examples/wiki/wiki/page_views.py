"""The views of pages: reading, editing, history, differences, reverting, searching."""

from __future__ import annotations

from . import diff, layout, markup
from .csrf import Csrf
from .pages import MARK_OFF, MARK_ON, MAX_TEXT, EditConflict, Hit, Pages, Revision, is_title
from .request import HttpError, Request
from .response import Response, html, private_html, see_other
from .template import Html, fill, join
from .urls import Urls
from .welcome import HOME


class PageViews:
    """Answers requests about the pages in ``pages``."""

    def __init__(self, pages: Pages, csrf: Csrf) -> None:
        self._pages = pages
        self._csrf = csrf

    def home(self, request: Request) -> Response:
        """The start of the wiki leads to its first page."""
        return see_other(request.urls.page(HOME))

    def show(self, request: Request, title: str) -> Response:
        """A page, or with ``?revision=N`` an older state of it."""
        _check_title(title)
        number = request.number(request.query, "revision")
        revision = self._revision(title, number) if number else self._pages.current(title)
        if revision is None:
            return _missing(request.urls, title)
        note = _older_note(request.urls, title, revision) if number else Html()
        body = fill(_PAGE, title=title, note=note, text=self._render(request.urls, revision.text))
        content = join([layout.tabs(request.urls, title, "wiki"), body])
        return html(layout.document(request.urls, title, content))

    def index(self, request: Request) -> Response:
        """The list of all pages."""
        items = join(_page_item(request.urls, title) for title in self._pages.titles())
        content = fill('<h1>Pages</h1><ul class="list">{items}</ul>', items=items)
        return html(layout.document(request.urls, "Pages", content))

    def search(self, request: Request) -> Response:
        """The pages that match ``?q=``."""
        words = request.query.get("q", "")[:_MAX_QUERY].strip()
        hits = self._pages.search(words, _MAX_HITS)
        create = Html()
        if is_title(words) and not self._pages.existing([words]):
            create = fill(_CREATE, href=request.urls.of("edit", words), title=words)
        items = join(_hit_item(request.urls, hit) for hit in hits)
        content = fill(_SEARCH, words=words, count=len(hits), items=items, create=create)
        return html(layout.document(request.urls, "Search", content, words))

    def edit(self, request: Request, title: str) -> Response:
        """The form to change a page or to make it."""
        _check_title(title)
        current = self._pages.current(title)
        text, base = (current.text, current.number) if current else ("", 0)
        return self._edit_form(request, title, text, "", base)

    def save(self, request: Request, title: str) -> Response:
        """Take the form of ``edit``: a new revision, or the form again if someone else was faster."""
        _check_title(title)
        form = self._checked_form(request)
        text = form.get("text", "").replace("\r\n", "\n").rstrip() + "\n"
        comment = form.get("comment", "").strip()[:_MAX_COMMENT]
        if len(text.encode()) > MAX_TEXT:
            raise HttpError(413, f"A page may have at most {MAX_TEXT:,} bytes.")
        try:
            self._pages.save(title, text, comment, request.number(form, "base"))
        except EditConflict as conflict:
            return self._edit_form(request, title, text, comment, conflict.current.number, conflict)
        return see_other(request.urls.page(title))

    def history(self, request: Request, title: str) -> Response:
        """The revisions of a page, the newest first, ``?before=N`` for older ones than that."""
        _check_title(title)
        current = self._pages.current(title)
        if current is None:
            return _missing(request.urls, title)
        before = request.number(request.query, "before", current.number + 1)
        revisions = self._pages.history(title, before, _HISTORY_LENGTH)
        token, headers = self._csrf.issue(request)
        items = [_history_item(request.urls, title, item, current, token) for item in revisions]
        if len(revisions) == _HISTORY_LENGTH:
            older = request.urls.of("history", title, before=revisions[-1].number)
            items.append(fill('<li><a href="{older}">Older</a></li>', older=older))
        content = fill(_HISTORY, title=title, items=join(items))
        tabs = layout.tabs(request.urls, title, "history")
        return private_html(layout.document(request.urls, title, join([tabs, content])), 200, headers)

    def diff(self, request: Request, title: str) -> Response:
        """What changed from revision ``?from=N`` (the one before ``to``) to ``?to=M`` (the newest)."""
        _check_title(title)
        older = request.number(request.query, "from")
        newer = request.number(request.query, "to")
        new = self._revision(title, newer) if newer else self._pages.current(title)
        if new is None:
            return _missing(request.urls, title)
        old = self._revision(title, older) if older else self._pages.before(title, new.number)
        changes = diff.render(old.text if old else "", new.text)
        content = fill(_DIFF, title=title, old=_when(old), new=_when(new), changes=changes)
        tabs = layout.tabs(request.urls, title, "history")
        return html(layout.document(request.urls, title, join([tabs, content])))

    def revert(self, request: Request, title: str) -> Response:
        """Make the text of an older revision the newest again; the ones between stay in the history."""
        _check_title(title)
        form = self._checked_form(request)
        revision = self._revision(title, request.number(form, "revision"))
        comment = f"Back to revision {revision.number}"
        try:
            self._pages.save(title, revision.text, comment, request.number(form, "base"))
        except EditConflict:
            message = "The page was changed after you opened its history. Look at it again first."
            raise HttpError(409, message) from None
        return see_other(request.urls.page(title))

    def _checked_form(self, request: Request) -> dict[str, str]:
        # Percent-encoding makes three bytes of one.
        form = request.form(3 * MAX_TEXT + _FORM_OVERHEAD)
        self._csrf.check(request, form.get("token", ""))
        return form

    def _revision(self, title: str, number: int) -> Revision:
        revision = self._pages.revision(title, number)
        if revision is None:
            raise HttpError(404, f"The page {title} has no revision {number}.")
        return revision

    def _render(self, urls: Urls, text: str) -> Html:
        return markup.render(text, urls, self._pages.existing(markup.linked_titles(text)))

    def _edit_form(
        self,
        request: Request,
        title: str,
        text: str,
        comment: str,
        base: int,
        conflict: EditConflict | None = None,
    ) -> Response:
        token, headers = self._csrf.issue(request)
        warning = Html()
        if conflict is not None:
            warning = fill(_CONFLICT, changes=diff.render(conflict.current.text, text))
        values = {"text": text, "comment": comment, "base": base, "token": token}
        action = request.urls.of("edit", title)
        form = fill(_EDIT, title=title, warning=warning, action=action, **values)
        content = join([layout.tabs(request.urls, title, "edit"), form])
        status = 200 if conflict is None else 409
        return private_html(layout.document(request.urls, title, content), status, headers)


def _check_title(title: str) -> None:
    if not is_title(title):
        raise HttpError(404, "No page can have this title.")


def _missing(urls: Urls, title: str) -> Response:
    content = fill(_MISSING, title=title, href=urls.of("edit", title))
    return html(layout.document(urls, title, content), 404)


def _older_note(urls: Urls, title: str, revision: Revision) -> Html:
    created = layout.moment(revision.created)
    return fill(_OLDER, number=revision.number, created=created, href=urls.page(title))


def _page_item(urls: Urls, title: str) -> Html:
    return fill('<li><a href="{href}">{title}</a></li>', href=urls.page(title), title=title)


def _hit_item(urls: Urls, hit: Hit) -> Html:
    excerpt = fill("{excerpt}", excerpt=hit.excerpt)
    marked = Html(excerpt.replace(MARK_ON, "<mark>").replace(MARK_OFF, "</mark>"))
    return fill(_HIT, href=urls.page(hit.title), title=hit.title, excerpt=marked)


def _history_item(urls: Urls, title: str, item: Revision, current: Revision, token: str) -> Html:
    revert = Html()
    if item.number != current.number:
        action = urls.of("revert", title)
        revert = fill(_REVERT, action=action, number=item.number, base=current.number, token=token)
    return fill(
        _REVISION,
        revert=revert,
        created=layout.moment(item.created),
        show=urls.page(title, revision=item.number),
        changes=urls.of("diff", title, to=item.number),
        comment=item.comment,
    )


def _when(revision: Revision | None) -> Html:
    return Html("nothing") if revision is None else layout.moment(revision.created)


_MAX_QUERY = 200  # characters
_MAX_HITS = 50
_MAX_COMMENT = 200  # characters
_HISTORY_LENGTH = 50
_FORM_OVERHEAD = 8 * 1024  # bytes of the other fields

_PAGE = "<article>{note}<h1>{title}</h1>\n{text}</article>"
_OLDER = '<p class="warning">This is revision {number}, of {created}. <a href="{href}">Read the newest</a></p>'
_MISSING = '<h1>{title}</h1><p>There is no page with this title yet. <a href="{href}">Write it</a></p>'
_CREATE = '<p>There is no page “{title}” yet. <a href="{href}">Write it</a></p>'
_SEARCH = """\
<h1>Search</h1>
<p class="note">{count} found for “{words}”</p>
<ul class="list">{items}</ul>
{create}"""
_HIT = '<li><a href="{href}">{title}</a><div class="note">{excerpt}</div></li>'
# The line end after <textarea> is the one that HTML drops, so that a leading one of the text is kept.
_EDIT = """\
<h1>{title}</h1>
{warning}
<form method="post" action="{action}">
<input type="hidden" name="token" value="{token}">
<input type="hidden" name="base" value="{base}">
<textarea name="text" rows="22" aria-label="Text" autofocus>
{text}</textarea>
<div class="row">
<input name="comment" value="{comment}" maxlength="200" placeholder="What did you change?"
 aria-label="Comment">
<button>Save</button>
</div>
</form>"""
_CONFLICT = """\
<p class="warning">Someone changed this page while you were editing it. Below is what saving your
text would change in theirs; merge the two and save again.</p>
{changes}"""
_HISTORY = '<h1>{title}</h1><ul class="list">{items}</ul>'
_REVISION = """\
<li>{revert}<a href="{show}">{created}</a> · <a href="{changes}">changes</a>
<span class="note">{comment}</span></li>"""
_REVERT = """\
<form method="post" action="{action}">
<input type="hidden" name="token" value="{token}">
<input type="hidden" name="base" value="{base}">
<input type="hidden" name="revision" value="{number}">
<button>Revert to this</button>
</form>"""
_DIFF = '<h1>{title}</h1><p class="note">From {old} to {new}</p>{changes}'
