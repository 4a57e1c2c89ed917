"""An application that cannot be imported is explained, with its own traceback and nobody else's."""

import site
import sys

import pytest

SOURCES = {
    "good.py": """
import functools

def app(environ, start_response): ...
def make(): return app
def gives_none(): pass
async def makes_later(): return app
async def speaks(scope, receive, send): ...
def raises(): raise KeyError("SETTING")
class Application:
    def __call__(self, environ, start_response): ...
instance = Application()
bound = instance.__call__
partial = functools.partial(lambda prefix, environ, start_response: None, "/")
class Middleware:
    def __init__(self, environ, start_response): ...
class Namespace:
    app = staticmethod(app)
def __getattr__(name):
    if name == "lazy":
        return app
    if name == "broken":
        raise OSError("disk")
    raise AttributeError(name)
text = "not an application"
""",
    "defaults.py": "def app(environ, start_response): ...\napplication = app\n",
    "lonely.py": "import json\nfrom os import path\ndef serve_it(environ, start_response): ...\n",
    "missing_inside.py": "import missing_library\n",
    "missing_itself.py": "import missing_itself.part\n",
    "syntax.py": "ok = 1\ndef app(:\n    pass\n",
    "chained.py": """
try:
    {}["inner"]
except KeyError as error:
    raise RuntimeError("outer") from error
""",
    "exits.py": "raise SystemExit(3)\n",
    "nested/__init__.py": "",
    "nested/alone.py": "def app(environ, start_response): ...\n",
    "nested/site.py": "",
    "package/main.py": "raise SystemExit('imported')\n",
    "project/__init__.py": "",
    "project/urls.py": "",
    "project/wsgi.py": "",
    "empty/urls.py": "",
    "time/__init__.py": "",
}


@pytest.fixture(autouse=True)
def modules(folder):
    """The modules of SOURCES, in the folder the command runs in."""
    for name, text in SOURCES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(
    "arguments",
    [
        ["good:app"],
        ["good"],
        ["defaults"],
        ["good:make()"],
        ["--factory", "good:make"],
        ["good:instance"],
        ["good:bound"],
        ["good:partial"],
        ["good:Middleware"],
        ["good:Namespace.app"],
        ["good:lazy"],
        ["nested.alone:app"],
        ["--app-dir", "nested", "alone:app"],
    ],
)
def test_what_can_be_served(command, arguments):
    done = command("--check-config", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "The settings are valid and the application can be imported. Its interface is wsgi.\n"


@pytest.mark.parametrize(
    ("app", "message"),
    [
        ("goood", "there is no module goood. It is neither in {folder} nor installed. Did you mean good?"),
        ("unheard.of", "there is no module unheard.of. It is neither in {folder} nor installed. Give the folder"),
        ("good.part", "there is no module good.part. It is neither in {folder} nor installed. Give the folder"),
        ("good.app", "there is no module good.app. It is neither in {folder} nor installed. Did you mean good:app?"),
        ("good.ap", "there is no module good.ap. It is neither in {folder} nor installed. Did you mean good:app?"),
        (
            "package.app",
            "there is no module package.app. It is neither in {folder} nor installed. Did you mean package.main:app?",
        ),
        (
            "package.app:api",
            "there is no module package.app. It is neither in {folder} nor installed. Did you mean package.main:api?",
        ),
        (
            "package.mian:api",
            "there is no module package.mian. It is neither in {folder} nor installed. Did you mean package.main:api?",
        ),
        (
            "package.mian",
            "there is no module package.mian. It is neither in {folder} nor installed. Did you mean package.main?",
        ),
        (
            "project.urlz",
            "there is no module project.urlz. It is neither in {folder} nor installed. Did you mean project.urls?",
        ),
        ("empty.app", "there is no module empty.app. It is neither in {folder} nor installed. Give the folder"),
        (
            "package:app",
            'package has no attribute "app". package is the folder {folder}/package. Did you mean package.main:',
        ),
        (
            "project:app",
            'project has no attribute "app". project is the folder {folder}/project. Did you mean project.wsgi:',
        ),
        (
            "project",
            'project has neither "application" nor "app". project is the folder {folder}/project. Did you mean project.wsgi?',
        ),
        (
            "empty:app",
            'empty has no attribute "app". empty is the folder {folder}/empty. Name a module in it, as in empty.',
        ),
        ("good:ap", 'good has no attribute "ap". Did you mean app?'),
        ("good:Namespace.ap", 'good:Namespace has no attribute "ap". Did you mean app?'),
        ("lonely:xyz", 'lonely has no attribute "xyz". Is it lonely:serve_it?'),
        ("lonely", 'lonely has neither "application" nor "app". Is it lonely:serve_it?'),
        ("good:text", "good:text is no application. It is of type str, which cannot be called."),
        ("good:text()", "good:text is no factory. It is of type str, which cannot be called."),
        ("good:make", "good:make takes no arguments, so it looks like a factory."),
        ("good:gives_none()", "the factory good:gives_none gave None."),
        (
            "good:makes_later()",
            "the factory good:makes_later gives a coroutine, as an async def does, which the server does not await. "
            "Make it a plain def that returns the application.\n",
        ),
        ("good:app()", "good:app is no factory, which is called without arguments. It takes two arguments, as a WSGI "),
        (
            "good:speaks()",
            "good:speaks is no factory, which is called without arguments. It takes three arguments, as an ASGI application "
            "does. Leave out () and --factory to serve it itself, or give its parameters defaults if it does make the "
            "application.\n",
        ),
        ("good:instance()", "good:instance is no factory, which is called without arguments. It takes two arguments, "),
    ],
)
def test_what_cannot_be_served_is_one_line_and_status_1(command, folder, app, message):
    done = command("--port", "0", app)
    assert done.returncode == 1
    assert done.stderr.startswith("pronghorn: error: " + message.format(folder=folder.resolve()))
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("app", "message", "last"),
    [
        (
            "missing_inside",
            "the application missing_inside could not be imported. ModuleNotFoundError: No module named "
            f"'missing_library'. Install it for {sys.executable}, or correct the import.",
            "ModuleNotFoundError: No module named 'missing_library'",
        ),
        (
            "missing_itself",
            "the application missing_itself could not be imported. ModuleNotFoundError: No module named ",
            "ModuleNotFoundError: No module named 'missing_itself.part'; 'missing_itself' is not a package",
        ),
        (
            "chained",
            "the application chained could not be imported. RuntimeError: outer. The traceback shows where.",
            "RuntimeError: outer",
        ),
        (
            "exits",
            "the application exits could not be imported. SystemExit: 3. The application ends the process",
            "SystemExit: 3",
        ),
        (
            "good:raises()",
            "calling the factory good:raises failed. KeyError: 'SETTING'. The traceback shows where.",
            "KeyError: 'SETTING'",
        ),
        ("good:broken", "reading broken of good failed. OSError: disk.", "OSError: disk"),
    ],
)
def test_what_raises_is_shown_with_its_traceback(command, app, message, last):
    done = command("--port", "0", app)
    assert done.returncode == 1
    assert done.stderr.startswith(f"pronghorn: error: {message}")
    assert done.stderr.rstrip().splitlines()[-1] == last
    assert 'Traceback (most recent call last):\n  File "' in done.stderr
    assert "importlib" not in done.stderr
    assert "pronghorn/__" not in done.stderr


def test_a_cause_is_part_of_the_traceback(command):
    done = command("--port", "0", "chained")
    assert "KeyError: 'inner'" in done.stderr
    assert "The above exception was the direct cause" in done.stderr


def test_a_syntax_error_shows_the_line(command, folder):
    done = command("--port", "0", "syntax")
    assert done.returncode == 1
    assert done.stderr.startswith("pronghorn: error: the application syntax could not be imported. SyntaxError:")
    assert f'File "{folder.resolve()}/syntax.py", line 2\n    def app(:\n' in done.stderr


def test_a_module_with_the_name_of_one_of_python_s_is_told(command, folder):
    done = command("--port", "0", "--app-dir", "nested", "site:app")
    own = folder.resolve() / "nested" / "site.py"
    assert done.stderr.startswith(f"pronghorn: error: the module site in {own} cannot be imported. {site.__file__} has")
    done = command("--port", "0", "time:app")
    own = folder.resolve() / "time" / "__init__.py"
    message = f"the module time in {own} cannot be imported. A module of Python itself has the same name"
    assert done.stderr.startswith(f"pronghorn: error: {message}")
