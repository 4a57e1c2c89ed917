"""The views: everybody may read, whoever is logged in may write."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from .forms import NewPageForm, RevisionForm
from .models import EditConflict, Page, Revision


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The list of pages, or of those that have ``?q=`` in their title."""
    words = request.GET.get("q", "")
    pages = Page.objects.filter(title__icontains=words)
    return render(request, "pages/index.html", {"pages": pages, "words": words})


@require_safe
def show(request: HttpRequest, title: str) -> HttpResponse:
    """A page."""
    return render(request, "pages/show.html", {"page": get_object_or_404(Page, title=title)})


@require_safe
def history(request: HttpRequest, title: str) -> HttpResponse:
    """The revisions of a page."""
    return render(request, "pages/history.html", {"page": get_object_or_404(Page, title=title)})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Ask for a title and go on to the form of ``edit``."""
    form = NewPageForm(request.POST or None)
    if form.is_valid():
        return redirect("pages:edit", form.cleaned_data["title"])
    return render(request, "pages/new.html", {"form": form})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, title: str) -> HttpResponse:
    """Change a page or make it."""
    _check_title(title)
    page = Page.objects.filter(title=title).first()
    current = page.current if page else None
    if request.method != "POST":
        form = RevisionForm(instance=current, initial={"base": current.pk if current else 0})
        return _edit_form(request, title, form)
    form = RevisionForm(request.POST)
    if not form.is_valid():
        return _edit_form(request, title, form, status=422)
    base, text = form.cleaned_data["base"], form.cleaned_data["text"]
    try:
        saved = Revision.objects.append(title, base, text, request.user)
    except EditConflict:
        form.add_error(None, "Someone changed this page meanwhile. Open it anew, and merge the two.")
        return _edit_form(request, title, form, status=409)
    return redirect(saved.page)


def _edit_form(request: HttpRequest, title: str, form: RevisionForm, status: int = 200) -> HttpResponse:
    return render(request, "pages/edit.html", {"title": title, "form": form}, status=status)


def _check_title(title: str) -> None:
    try:
        Page(title=title).clean_fields()
    except ValidationError:
        raise Http404("No page can have this title.") from None
