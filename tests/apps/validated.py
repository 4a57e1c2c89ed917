"""ECHO under the validators of WSGI that exist: each raises where the server breaks PEP 3333."""

from wsgiref.validate import validator

import echo

wsgiref = validator(echo.app)
