"""The ready-made image: what it copies is there, its flags are valid, it runs without rights and ends when told to."""

import fnmatch
import json
import re
import shlex
from pathlib import Path

import pytest
from dockerfile_parse import DockerfileParser

from harness.command import settings_of

ROOT = Path(__file__).parent.parent.parent
DOCKERFILE = ROOT / "deploy" / "docker" / "Dockerfile"


@pytest.fixture
def stages():
    """The stages: for each a list of (instruction, value)."""
    parser = DockerfileParser(path=str(DOCKERFILE))
    stages = []
    for step in parser.structure:
        if step["instruction"] == "FROM":
            stages.append([])
        if step["instruction"] not in ("COMMENT", "ARG"):
            stages[-1].append((step["instruction"], step["value"]))
    return stages


def values(stage, instruction):
    """The values of all instructions of a kind."""
    return [value for name, value in stage if name == instruction]


def command(stage, instruction):
    """The command of an instruction in the exec form: no shell stands between the signals and the server."""
    (value,) = values(stage, instruction)
    return json.loads(value[value.index("[") :])


def context_copies(stage):
    """What is copied from the repository."""
    copies = [shlex.split(value) for value in values(stage, "COPY")]
    return [path for words in copies if not words[0].startswith("--from") for path in words[:-1]]


def test_everything_that_is_copied_is_there(stages):
    ignored = (DOCKERFILE.parent / "Dockerfile.dockerignore").read_text().split()
    copied = [path.replace("${APPLICATION}", "examples/wiki") for stage in stages for path in context_copies(stage)]
    assert "crates" in copied
    for path in copied:
        assert (ROOT / path).exists(), path
        assert not any(fnmatch.fnmatch(path, pattern) for pattern in ignored)


def test_all_crates_of_the_workspace_are_copied(stages):
    members = re.search(r"^members = \[(.*)\]", (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    copied = [Path(path) for path in context_copies(stages[1])]
    for member in re.findall(r'"([^"]+)"', members[1]):
        assert any(Path(member) == path or path in Path(member).parents for path in copied), member


def test_the_compiler_is_new_enough(stages):
    needed = re.search(r'^rust-version = "1\.(\d+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    (image,) = values(stages[0], "FROM")
    assert int(re.match(r"rust:1\.(\d+)-", image)[1]) >= int(needed[1])


def test_python_is_the_same_where_it_is_built_and_where_it_runs(stages):
    built, runs = (values(stage, "FROM")[0].split()[0] for stage in stages[1:])
    assert built == runs


def test_nothing_of_the_compiler_is_left(stages):
    assert [value.split()[:2] for value in values(stages[-1], "COPY")] == [
        ["--from=build", "/opt/venv"],
        ["--from=build", "/app"],
    ]


def test_every_flag_is_one_of_the_server(stages, tmp_path):
    program, *arguments = command(stages[-1], "ENTRYPOINT")
    assert program == "pronghorn"
    settings = settings_of([*arguments, *command(stages[-1], "CMD")], tmp_path)
    assert settings["app"] == "wiki:application"
    assert settings["bind"] == f'["0.0.0.0:{values(stages[-1], "EXPOSE")[0]}"]'


def test_the_health_check_asks_where_the_server_answers(stages, tmp_path):
    settings = settings_of(command(stages[-1], "ENTRYPOINT")[1:], tmp_path)
    check = command(stages[-1], "HEALTHCHECK")
    assert check[:2] == ["python", "-c"]
    compile(check[2], "the health check", "exec")
    assert f"http://127.0.0.1:8000{settings['health']}'" in check[2]


def test_the_server_runs_without_rights_and_is_told_to_drain(stages):
    (user,) = values(stages[-1], "USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    assert values(stages[-1], "STOPSIGNAL") == ["SIGTERM"]
