"""Settings come from flags, variables, the environment file and the settings file, the first of these winning."""

import pytest


def printed(command, key, *arguments, **variables):
    """The line `--print-config` has for a setting."""
    done = command("--print-config", *arguments, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return next(line for line in done.stdout.splitlines() if line.startswith((f"{key} ", f"# {key} ")))


def test_a_default_is_shown_as_one(command):
    assert printed(command, "threads") == "threads = 8  # default"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--interface", "asgi3"], 'interface = "asgi3"  # --interface'),
        (["--loop", "uvloop"], 'loop = "uvloop"  # --loop'),
        (["--lifespan=on"], 'lifespan = "on"  # --lifespan'),
        (["--root-path", "/shop"], 'root-path = "/shop"  # --root-path'),
        (["--ws-max-size", "16777216"], 'ws-max-size = "16777216"  # --ws-max-size'),
        (["--ws-ping-interval", "20.0"], 'ws-ping-interval = "20.0"  # --ws-ping-interval'),
        (["--no-ws-per-message-deflate"], "ws-per-message-deflate = false  # --ws-per-message-deflate"),
    ],
)
def test_flags_of_uvicorn_mean_the_same(command, arguments, line):
    assert printed(command, line.split()[0], *arguments) == line


def test_the_root_path_is_known_by_gunicorn_s_variable(command):
    assert printed(command, "root-path", SCRIPT_NAME="/shop") == 'root-path = "/shop"  # SCRIPT_NAME'


def test_what_is_not_set_is_a_comment(command):
    assert printed(command, "uds") == "# uds is not set"


def test_each_place_wins_over_the_next(command, folder):
    (folder / "p.toml").write_text("# first line\nthreads = 2\n")
    (folder / "e.env").write_text("PRONGHORN_THREADS=3\n")
    assert printed(command, "threads", "-c", "p.toml") == "threads = 2  # p.toml:2"
    both = ("-c", "p.toml", "--env-file", "e.env")
    assert printed(command, "threads", *both) == "threads = 3  # PRONGHORN_THREADS in e.env:1"
    assert printed(command, "threads", *both, PRONGHORN_THREADS="4") == "threads = 4  # PRONGHORN_THREADS"
    assert printed(command, "threads", *both, "--threads=5", PRONGHORN_THREADS="4") == "threads = 5  # --threads"


def test_printed_settings_can_be_fed_back(command, folder):
    flags = ["-b", "[::1]:0", "-b", "unix:a b'\"\\.sock", "--max-body", "64k", "--no-date-header", "--keep-alive=2.5"]
    first = command("--print-config", "hello:app", *flags).stdout
    (folder / "again.toml").write_text(first)
    second = command("--print-config", "-c", "again.toml").stdout
    assert values(second) == values(first)


def values(text):
    """The lines without where each comes from, and without the settings file's own name."""
    lines = (line.rsplit("  # ", 1)[0] for line in text.splitlines())
    return [line for line in lines if "config" not in line]


def test_the_environment_file_is_seen_by_the_application(command, folder):
    (folder / "e.env").write_text("NAME='a b'\nHOME=replaced\n")
    (folder / "seen.py").write_text(
        "import os\nassert os.environ['NAME'] == 'a b', os.environ['NAME']\n"
        "assert os.environ['HOME'] == '/kept'\nassert os.getenv('NAME')\ndef app(environ, start_response): ...\n"
    )
    done = command("--check-config", "--env-file", "e.env", "seen", HOME="/kept")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_folder_is_changed_before_the_import(command, folder):
    (folder / "site").mkdir()
    (folder / "site" / "inside.py").write_text(
        "import os\nassert os.path.exists('inside.py')\ndef app(environ, start_response): ...\n"
    )
    assert command("--check-config", "--chdir", "site", "inside").returncode == 0


def test_an_unknown_variable_is_a_warning(command):
    done = command("--check-config", "hello", PRONGHORN_THREDS="1")
    assert done.returncode == 0
    assert done.stderr == (
        "pronghorn: warning: the variable PRONGHORN_THREDS is no setting and is ignored. "
        "Did you mean PRONGHORN_THREADS?\n"
    )


def test_folders_that_nobody_watches_are_a_warning(command):
    done = command("--check-config", "--reload-dir", ".", "hello")
    assert done.returncode == 0
    assert done.stderr == (
        "pronghorn: warning: reload-dir does nothing without reload. Add --reload, or leave it out.\n"
    )
    assert command("--check-config", "--reload", "--reload-dir", ".", "hello").stderr == ""


@pytest.mark.parametrize(
    ("arguments", "variables", "message"),
    [
        (["--thread", "2"], {}, "--thread is no flag. Did you mean --threads?"),
        (["--metrics", "health"], {}, "--metrics health is not valid. Expected a path such as /health, or HOST:PORT"),
        (
            ["--interface", "asg"],
            {},
            "--interface asg is not valid. Expected one of auto, wsgi, asgi, asgi3, asgi2. Did",
        ),
        (["--loop", "gevent"], {}, "--loop gevent is not valid. Expected one of auto, asyncio, uvloop."),
        ([], {"PRONGHORN_LIFESPAN": "yes"}, "PRONGHORN_LIFESPAN=yes is not valid. Expected one of auto, on, off."),
        (
            ["--root-path", "shop"],
            {},
            "--root-path shop is not valid. Expected a plain path such as /shop, without // and",
        ),
        ([], {"SCRIPT_NAME": "shop"}, "SCRIPT_NAME=shop is not valid. Expected a plain path such as /shop"),
        (["--ws-max-size", "16MB"], {}, "--ws-max-size 16MB is not valid. MB may mean 1000 or 1024: write 16MiB"),
        (["--ws-max-queue", "0"], {}, "--ws-max-queue 0 is not valid. Expected a whole number from 1 to 65535."),
        (["--drain-streams", "on"], {}, "--drain-streams on is not valid. Expected one of disconnect, lifespan, off."),
        (["--proxy-headers"], {}, "--proxy-headers is no flag. What proxies say of the client is believed from those "),
        (["--no-proxy-headers"], {}, "--no-proxy-headers is no flag. Write --forwarded-allow-ips none."),
        (["--use-colors"], {}, "--use-colors is no flag. The log has no colours. Leave it out."),
        (["--ssl-ciphers", "TLSv1"], {}, "--ssl-ciphers is no flag. There is no TLS yet."),
        (["--reload-delay", "1"], {}, "--reload-delay is no flag. --reload watches the modules that are imported"),
        (
            ["--header", "a:b"],
            {},
            "--header is no flag. Fields of every response are for a middleware of the application",
        ),
        (
            ["--h11-max-incomplete-event-size", "9"],
            {},
            "--h11-max-incomplete-event-size is no flag. The head of a request",
        ),
        (
            ["--timeout-worker-healthcheck", "5"],
            {},
            "--timeout-worker-healthcheck is no flag. A worker whose request hangs",
        ),
        (
            ["hello:app", "--ws-per-message-deflate", "true"],
            {},
            '"true" is one argument too many. A switch takes no value: --NAME turns it on',
        ),
        (["--no-access-log"], {}, "--no-access-log is no flag. There is no access log unless --access-log says"),
        (["--http", "auto"], {}, "--http is no flag. HTTP and WebSockets are the server's own, and always there."),
        (["--loop", "none"], {}, "--loop none is not valid. Expected one of auto, asyncio, uvloop."),
        (["--ws", "auto"], {}, "--ws is no flag. HTTP and WebSockets are the server's own, and always there."),
        (["-k", "uvicorn.workers.UvicornWorker"], {}, "-k is no flag. There is one kind of worker: it finds out"),
        (["--threads", "0"], {}, "--threads 0 is not valid. Expected a whole number from 1 to 1024."),
        ([], {"PRONGHORN_BIND": "host:x"}, 'PRONGHORN_BIND=host:x is not valid. "x" is no port: expected a number '),
        (["-c", "p.toml"], {}, 'p.toml:1: "thread" is no setting. Did you mean threads?'),
        (["-c", "none.toml"], {}, "cannot read none.toml. It does not exist. Check config."),
        (["--env-file", "bad.env"], {}, "bad.env:2: expected NAME=value."),
        (["--workers", "2", "--no-supervisor", "hello"], {}, "--workers 2 needs the supervisor. Without it there is"),
        (["--port", "1", "--bind", "[::]"], {}, "bind is given together with host or port."),
        ([], {}, "APP is missing. There is nothing to serve. Write pronghorn MODULE:ATTRIBUTE"),
        (
            ["fa/app"],
            {},
            'APP "fa/app" is not valid. Expected a module, not a path: write fa:app, or fa.app if app is a ',
        ),
        (["hello.py:app"], {}, 'APP "hello.py:app" is not valid. Expected a module, not a path: write hello:app.'),
    ],
)
def test_a_mistake_is_one_line_and_status_2(command, folder, arguments, variables, message):
    (folder / "p.toml").write_text("thread = 1\n")
    (folder / "bad.env").write_text("A=1\nB\n")
    done = command(*arguments, **variables)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"pronghorn: error: {message}")
    assert done.stderr.count("\n") == 1
