"""The command beside serving: help, version, generated files, streams that close."""

import subprocess
import sys
from pathlib import Path

import pytest

import pronghorn

REFERENCE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_version_is_the_package_s(command):
    for flag in ("--version", "-V"):
        done = command(flag)
        assert (done.returncode, done.stdout) == (0, f"pronghorn {pronghorn.__version__}\n")


def test_the_console_script_is_the_same_command(command):
    script = Path(sys.executable).with_name("pronghorn")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, command("--version").stdout)


def test_help_goes_to_standard_output(command):
    done = command("--help")
    assert done.returncode == 0
    assert "Usage: pronghorn [OPTIONS] [APP]" in done.stdout
    assert done.stderr == ""


ABOUT = "Serve a WSGI or ASGI application over HTTP/1.1 and WebSocket"


def test_help_and_manual_page_say_what_is_served_and_what_signals_do(command):
    for text in (command("--help").stdout, command("--man").stdout):
        assert ABOUT in text
        assert "TERM lets running requests end" in text
        assert "INT cuts them after a second" in text


def test_the_docstring_of_run_says_the_same():
    text = " ".join(pronghorn.run.__doc__.split())
    assert text.startswith(ABOUT)
    assert "TERM lets running requests end" in text
    assert "INT cuts them after a second" in text


def test_a_reader_that_stops_is_no_error(folder):
    shell = f"{sys.executable} -m pronghorn --help | head -1"
    done = subprocess.run(shell, shell=True, cwd=folder, capture_output=True, text=True, timeout=30)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_a_mistake_with_no_one_to_tell_is_still_a_mistake(folder):
    shell = f"{sys.executable} -m pronghorn --no-such-flag 2>/dev/full"
    assert subprocess.run(shell, shell=True, cwd=folder, timeout=30).returncode == 2


def test_the_reference_page_is_up_to_date(command):
    assert command("--reference").stdout == REFERENCE.read_text()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions(command, shell):
    done = command("--completions", shell)
    assert done.returncode == 0
    assert "graceful-timeout" in done.stdout


def test_bash_takes_its_completions(command, folder):
    (folder / "completions").write_text(command("--completions", "bash").stdout)
    script = "source completions; COMP_WORDS=(pronghorn --thr); COMP_CWORD=1; _pronghorn pronghorn --thr pronghorn; "
    script += "echo ${COMPREPLY[@]}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("--threads\n", "")


def test_the_manual_page(command):
    done = command("--man")
    assert done.returncode == 0
    assert done.stdout.splitlines()[2].startswith(".TH pronghorn 1")


def test_importing_pronghorn_imports_nothing_else(interpreter):
    code = "import sys; before = set(sys.modules); import pronghorn; print(sorted(set(sys.modules) - before))"
    assert interpreter(code).stdout == "['pronghorn', 'pronghorn._pronghorn']\n"
