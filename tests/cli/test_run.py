"""`pronghorn.run()`: its mistakes are exceptions that say what to write."""

import pytest


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("run(app, thread=2)", 'ValueError: "thread" is no setting. Did you mean threads?'),
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
