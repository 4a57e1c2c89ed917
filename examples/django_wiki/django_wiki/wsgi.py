"""The WSGI application: ``pronghorn --app-dir examples/django_wiki django_wiki.wsgi:application``."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "django_wiki.settings")

application = get_wsgi_application()
