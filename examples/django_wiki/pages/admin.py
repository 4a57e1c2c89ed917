"""Pages in Django's admin."""

from django.contrib import admin

from .models import Page, Revision


class RevisionInline(admin.StackedInline):
    """The texts of a page, below it."""

    model = Revision
    extra = 0


@admin.register(Page)
class PageAdmin(admin.ModelAdmin):
    """Pages, found by title."""

    search_fields = ["title"]
    inlines = [RevisionInline]
