"""`pronghorn.run()`: its mistakes are exceptions that say what to write."""

import pytest


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("run(app, thread=2)", 'TypeError: "thread" is no setting. Did you mean threads?'),
        ("run(app, limit_concurrency=5)", 'TypeError: "limit_concurrency" is no setting. Write max_concurrency.'),
        ("run(app, timeout_keep_alive=5)", 'TypeError: "timeout_keep_alive" is no setting. Write keep_alive.'),
        (
            "run(app, timeout_graceful_shutdown=5)",
            'TypeError: "timeout_graceful_shutdown" is no setting. Write graceful_timeout.',
        ),
        ("run(app, limit_max_requests=5)", 'TypeError: "limit_max_requests" is no setting. Write max_requests.'),
        ("run(app, reload_dirs=['.'])", 'TypeError: "reload_dirs" is no setting. Did you mean reload_dir?'),
        (
            "run(app, proxy_headers=True)",
            'TypeError: "proxy_headers" is no setting. What proxies say of the client is believed from those that forwarded_allow_ips names,',
        ),
        ("run(app, proxy_headers=False)", 'TypeError: "proxy_headers" is no setting. Write forwarded_allow_ips none.'),
        (
            "run(app, log_config={})",
            'TypeError: "log_config" is no setting. Configure Python\'s logging in the application',
        ),
        ("run(app, use_colors=False)", 'TypeError: "use_colors" is no setting. The log has no colours. Leave it out.'),
        ("run(app, ssl_keyfile_password='x')", 'TypeError: "ssl_keyfile_password" is no setting. There is no TLS yet.'),
        (
            "run(app, headers=[('a', 'b')])",
            'TypeError: "headers" is no setting. Fields of every response are for a middleware',
        ),
        (
            "run(app, access_log=True)",
            "TypeError: access_log=True is not valid. Expected a path, -, syslog:, syslog:PATH or syslog:HOST:PORT, nothing of type bool. ",
        ),
        (
            "run(app, error_log=False)",
            "TypeError: error_log=False is not valid. Expected a path, or -, nothing of type bool. ",
        ),
        (
            "run(app, threads=True)",
            "TypeError: threads=True is not valid. Expected a whole number from 1 to 1024, nothing of type bool. ",
        ),
        (
            "run(app, bind=[True])",
            "TypeError: bind=[True] is not valid. Expected HOST:PORT, [IPV6]:PORT, :PORT, unix:PATH or fd://N, nothing of type list. ",
        ),
        ("run(app, host=['a'])", "TypeError: host=['a'] is not valid. Expected a text, nothing of type list. "),
        ("run(app, uds={})", "TypeError: uds={} is not valid. Expected a path, nothing of type dict. "),
        ("run(app, threads=0)", 'ValueError: threads="0" is not valid. Expected a whole number from 1 to 1024.'),
        ("run(app, max_body='1MB')", 'ValueError: max_body="1MB" is not valid. MB may mean 1000 or 1024: write 1MiB'),
        ("run(app, bind=[])", 'ValueError: bind="" is not valid. Expected at least one address.'),
        ("run('hello.py')", 'ValueError: app="hello.py" is not valid. Expected a module, not a path: write hello.'),
        ("run('hello:ap', port=0)", 'RuntimeError: hello has no attribute "ap". Did you mean app?'),
        ("run(5, port=0)", "RuntimeError: the object given to run() is no application. It is of type int"),
        ("run(app, config='none.toml')", "ValueError: cannot read none.toml. It does not exist. Check config."),
    ],
)
def test_a_mistake_is_an_exception(interpreter, call, error):
    done = interpreter(f"from pronghorn import run\nfrom hello import app\n{call}")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(error)


def test_a_mistake_makes_no_file(interpreter, folder):
    before = set(folder.iterdir())
    interpreter("from pronghorn import run\nfrom hello import app\nrun(app, access_log=True)")
    assert {path.name for path in set(folder.iterdir()) - before} <= {"__pycache__"}


def test_values_may_be_of_any_type_that_is_a_text_or_a_number(interpreter):
    call = "run(app, threads=2.5, app_dir=pathlib.Path('.'), date_header=False, max_body=1024, keep_alive=1.5)"
    done = interpreter(f"import pathlib\nfrom pronghorn import run\nfrom hello import app\n{call}")
    assert done.stderr.splitlines()[-1].startswith('ValueError: threads="2.5" is not valid.')
