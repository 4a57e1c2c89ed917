"""Starts the servers that have no command as the benchmarks do, with the application of this folder."""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).parents[2] / "bench" / "apps" / "embedded.py"), run_name="__main__")
