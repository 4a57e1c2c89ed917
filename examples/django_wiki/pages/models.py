"""What is stored: pages, and every text each of them had."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models, transaction
from django.urls import reverse


class Page(models.Model):
    """A page; its text is that of its newest revision."""

    title = models.CharField(
        max_length=100,
        unique=True,
        validators=[RegexValidator(r"^[\w][\w ,.-]*$", "Letters, digits, spaces and , . - only.")],
    )

    class Meta:
        """Pages come in the order of their titles."""

        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Where the page is read."""
        return reverse("pages:show", args=[self.title])

    @property
    def current(self) -> Revision | None:
        """The newest revision; None for a page that was made in the admin and has no text yet."""
        return self.revisions.first()


class EditConflict(Exception):
    """A page was changed after its editor opened it; the argument is its title."""


class RevisionManager(models.Manager["Revision"]):
    """Adds revisions to pages."""

    @transaction.atomic
    def append(self, title: str, base: int, text: str, author: object) -> Revision:
        """Make ``text`` the newest of the page, which is made if need be.

        ``base`` is the number of the revision the text was made from, 0 for none. Raises ``EditConflict``
        when another has become the newest meanwhile.
        """
        page, _ = Page.objects.get_or_create(title=title)
        current = page.current
        if (current.pk if current else 0) != base:
            raise EditConflict(title)
        return self.create(page=page, text=text, author=author)


class Revision(models.Model):
    """A text of a page, from when it was saved to when the next one was."""

    page = models.ForeignKey(Page, models.CASCADE, related_name="revisions")
    text = models.TextField(max_length=200_000)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    objects = RevisionManager()

    class Meta:
        """The newest comes first; numbers grow with time."""

        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.page} ({self.created:%Y-%m-%d %H:%M})"
