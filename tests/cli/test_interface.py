"""The interface of an application is found by itself, and a wrong choice is told."""

import pytest

SOURCES = {
    "wsgi.py": """
import functools
import bottle, django.core.handlers.wsgi, django.conf, flask

def function(environ, start_response): ...
def with_default(environ, start_response, extra=None): ...
class Application:
    def __call__(self, environ, start_response): ...
    def handle(self, environ, start_response): ...
    @classmethod
    def of_class(cls, environ, start_response): ...
    @staticmethod
    def of_nothing(environ, start_response): ...
instance = Application()
bound = instance.handle
of_class = Application.of_class
of_nothing = Application.of_nothing
partial = functools.partial(lambda prefix, environ, start_response: None, "/")
class Iterable:
    def __init__(self, environ, start_response): ...
    def __iter__(self): ...
def decorator(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs): return function(*args, **kwargs)
    return wrapper
decorated = decorator(function)
flask = flask.Flask("wsgi")
bottle = bottle.Bottle()
django.conf.settings.configure()
django = django.core.handlers.wsgi.WSGIHandler()
""",
    "asgi.py": """
import functools
import django.core.handlers.asgi, django.conf
import asgiref.compatibility, asgiref.wsgi

async def function(scope, receive, send): ...
async def anything(*args): ...
def plain(scope, receive, send): return function(scope, receive, send)
def anything_named(scope, *args): return function(scope, *args)
class Application:
    async def __call__(self, scope, receive, send): ...
    async def handle(self, scope, receive, send): ...
instance = Application()
bound = instance.handle
partial = functools.partial(instance)
filled = functools.partial(lambda prefix, scope, receive, send: None, "/")
named = functools.partial(lambda scope, receive, send, prefix: None, prefix="/")
class Endpoint:
    def __init__(self, scope, receive, send): ...
    def __await__(self): ...
def decorator(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs): return function(*args, **kwargs)
    return wrapper
decorated = decorator(decorator(function))
class Cached:
    def __init__(self, function): functools.update_wrapper(self, function)
    def __call__(self, *args): return self.__wrapped__(*args)
object_around = Cached(function)
class Slots:
    __slots__ = ("__call__",)
    def __init__(self): self.__call__ = self.run
    async def run(self, scope, receive, send): ...
chosen = Slots()
marked = asgiref.compatibility.guarantee_single_callable(instance)
@asgiref.compatibility.guarantee_single_callable
class Double:
    def __init__(self, scope): ...
    async def __call__(self, receive, send): ...
adapted = Double
around_wsgi = asgiref.wsgi.WsgiToAsgi(lambda environ, start_response: [])
django.conf.settings.configure()
django = django.core.handlers.asgi.ASGIHandler()
""",
    "asgi2.py": """
class Application:
    def __init__(self, scope): ...
    async def __call__(self, receive, send): ...
def function(scope): ...
class Router:
    def __call__(self, scope): ...
instance = Router()
def marked(thing): ...
marked._asgi_double_callable = True
""",
    "none.py": """
import functools
async def factory(): ...
async def generator(scope, receive, send): yield
async def asynchronous(environ, start_response): ...
async def one(scope): ...
def one_argument(settings): ...
def four(a, b, c, d): ...
def make(): ...
class Application:
    async def __call__(self, scope, receive, send): ...
class Middleware:
    def __init__(self, app): ...
    async def __call__(self, scope, receive, send): ...
class Old:
    def __call__(self, environ, start_response): ...
def itself(*args): ...
itself.__wrapped__ = itself
""",
}
WSGI = [
    *("function", "instance", "bound", "of_class", "of_nothing", "partial", "flask", "bottle", "django"),
    # Nothing tells what these are, but that most such applications are WSGI.
    *("with_default", "Iterable", "decorated"),
]
ASGI = [
    *("function", "anything", "plain", "anything_named", "instance", "bound", "partial", "filled", "named", "Endpoint"),
    *("decorated", "object_around", "chosen", "marked", "adapted", "around_wsgi", "django"),
]
ASGI2 = ["Application", "function", "instance", "marked"]
WSGI_APPLICATION = "a WSGI application, which takes environ and start_response, and interface is "
ASGI_APPLICATION = "an ASGI application, which takes scope, receive and send, and interface is "
ASGI2_APPLICATION = "an ASGI 2 application, which takes scope, and then receive and send, and interface is "
INTERFACES = {
    **{f"wsgi:{name}": "wsgi" for name in WSGI},
    **{f"asgi:{name}": "asgi" for name in ASGI},
    **{f"asgi2:{name}": "asgi2" for name in ASGI2},
}


@pytest.fixture(autouse=True)
def modules(folder):
    """The modules of SOURCES, in the folder the command runs in."""
    for name, text in SOURCES.items():
        (folder / name).write_text(text)


@pytest.mark.parametrize("app", INTERFACES)
def test_an_application_is_told_by_how_it_looks(command, app):
    done = command("--check-config", app)
    assert (done.returncode, done.stderr) == (0, "")
    interface = INTERFACES[app].rstrip("2")
    assert done.stdout == f"The settings are valid and the application can be imported. Its interface is {interface}.\n"


@pytest.mark.parametrize(
    ("app", "choices"),
    [
        ("wsgi:function", ["wsgi"]),
        ("wsgi:flask", ["auto", "wsgi"]),
        ("asgi:function", ["auto", "asgi", "asgi3"]),
        ("asgi:django", ["asgi", "asgi3"]),
        ("asgi2:function", ["auto", "asgi", "asgi2"]),
        ("wsgi:with_default", ["wsgi", "asgi", "asgi3", "asgi2"]),
        ("asgi:decorated", ["wsgi", "asgi", "asgi3", "asgi2"]),
    ],
)
def test_a_right_choice_changes_nothing_and_decides_what_nothing_tells(command, app, choices):
    for choice in choices:
        done = command("--check-config", "--interface", choice, app)
        assert (done.returncode, done.stderr) == (0, "")
        interface = INTERFACES[app].rstrip("2") if choice == "auto" else choice.rstrip("23")
        assert done.stdout.endswith(f" Its interface is {interface}.\n")


UVLOOPS = {
    "missing": (
        'raise ModuleNotFoundError("No module named uvloop", name="uvloop")\n',
        "loop is uvloop, which is not installed for ",
    ),
    "broken": ('raise OSError("disk")\n', "importing uvloop failed. OSError: disk."),
}


@pytest.mark.parametrize("uvloop", UVLOOPS)
def test_a_check_says_of_the_event_loop_what_the_start_would_say(command, folder, uvloop):
    source, message = UVLOOPS[uvloop]
    (folder / "uvloop.py").write_text(source)
    arguments = ("--loop", "uvloop", "asgi:function")
    checked, started = command("--check-config", *arguments), command("--no-supervisor", "--port", "0", *arguments)
    assert (checked.returncode, started.returncode) == (1, 1)
    assert checked.stderr.startswith(f"pronghorn: error: {message}"), checked.stderr
    assert checked.stderr in started.stderr


def test_a_wsgi_application_needs_no_event_loop(command, folder):
    (folder / "uvloop.py").write_text(UVLOOPS["missing"][0])
    assert command("--check-config", "--loop", "uvloop", "wsgi:function").returncode == 0


@pytest.mark.parametrize(
    ("app", "choice", "message"),
    [
        ("wsgi:function", "asgi", WSGI_APPLICATION + "asgi. Set it to wsgi, or leave it out."),
        ("wsgi:flask", "asgi", WSGI_APPLICATION + "asgi. Set it to wsgi, or leave it out."),
        ("wsgi:django", "asgi2", WSGI_APPLICATION + "asgi2. Set it to wsgi, or leave it out."),
        ("asgi:function", "wsgi", ASGI_APPLICATION + "wsgi. Set it to asgi, or leave it out."),
        ("asgi:django", "wsgi", ASGI_APPLICATION + "wsgi. Set it to asgi, or leave it out."),
        ("asgi:plain", "asgi2", ASGI_APPLICATION + "asgi2. Set it to asgi, or leave it out."),
        *((f"asgi2:{name}", "asgi3", ASGI2_APPLICATION + "asgi3. Set it to asgi2, or leave it out.") for name in ASGI2),
        ("asgi2:Application", "wsgi", ASGI2_APPLICATION + "wsgi. Set it to asgi2, or leave it out."),
    ],
)
def test_a_wrong_choice_is_one_line_that_names_the_right_one(command, app, choice, message):
    done = command("--check-config", "--interface", choice, app)
    assert done.returncode == 1
    assert done.stderr == f"pronghorn: error: {app} is {message}\n"


@pytest.mark.parametrize(
    ("app", "message"),
    [
        ("none:factory", "none:factory is an async function without parameters: no application, which takes scope, "),
        ("none:generator", "none:generator is an async function with a yield, which cannot be awaited."),
        (
            "none:asynchronous",
            "none:asynchronous is an async function whose parameters are not those of an application.",
        ),
        ("none:one", "none:one is an async function whose parameters are not those of an application. An ASGI"),
        (
            "none:one_argument",
            "none:one_argument is a function whose parameters are not those of an application. A WSGI",
        ),
        ("none:four", "none:four is a function whose parameters are not those of an application."),
        ("none:make", "none:make takes no arguments, so it looks like a factory."),
        ("none:Application", "none:Application takes no arguments, so it looks like a factory."),
        ("none:Old", "none:Old takes no arguments, so it looks like a factory."),
        (
            "none:Middleware",
            "none:Middleware is a class that is made with arguments; its instances may be applications.",
        ),
    ],
)
def test_what_is_no_application_is_one_line(command, app, message):
    done = command("--check-config", app)
    assert done.returncode == 1
    assert done.stderr.startswith(f"pronghorn: error: {message}")
    assert done.stderr.count("\n") == 1


def test_a_function_that_wraps_itself_is_looked_at_once(command):
    assert command("--check-config", "none:itself").stdout.endswith(" Its interface is wsgi.\n")


def test_a_factory_and_a_class_without_arguments_give_what_they_return(command):
    assert command("--check-config", "none:Application()").stdout.endswith(" Its interface is asgi.\n")
    assert command("--check-config", "--factory", "none:Old").stdout.endswith(" Its interface is wsgi.\n")


def test_an_object_given_to_run_is_looked_at_too(interpreter):
    done = interpreter("from pronghorn import run\nfrom asgi import function\nrun(function, interface='wsgi', port=0)")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("RuntimeError: the object given to run() is an ASGI application, which takes scope, receive")
