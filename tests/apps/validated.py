"""ECHO under the validators of WSGI that exist: each raises or warns where the server breaks PEP 3333.

They are imported when asked for, so that one is enough to serve one.
"""

import importlib
import warnings

import echo


def __getattr__(name):
    """The application under the validator of that name."""
    module, attribute = VALIDATORS[name]
    warnings.simplefilter("error")
    return getattr(importlib.import_module(module), attribute)(echo.app)


VALIDATORS = {
    "wsgiref": ("wsgiref.validate", "validator"),
    "werkzeug": ("werkzeug.middleware.lint", "LintMiddleware"),
    "paste": ("paste.lint", "middleware"),
}
