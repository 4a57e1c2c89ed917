"""The application's entry in ``INSTALLED_APPS``."""

from django.apps import AppConfig


class PagesConfig(AppConfig):
    """Pages and their revisions."""

    name = "pages"
