"""Stands in for the applications of the benchmarks: `app` is what CONFORMANCE_APP names, as module:attribute."""

import importlib
import os

_module, _, _attribute = os.environ["CONFORMANCE_APP"].partition(":")
app = getattr(importlib.import_module(_module), _attribute)
