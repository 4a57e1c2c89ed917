"""docs/behaviour.md: its defaults are those of the server."""

import re
from pathlib import Path

import pytest

from harness.command import settings_of

PAGE = (Path(__file__).parent.parent.parent / "docs" / "behaviour.md").read_text()
ROWS = re.findall(r"^\| [^|]+ \| `([a-z-]+)`[^|]* \| ([^|,]+(?:,\d{3})?)[^|]* \|", PAGE, re.MULTILINE)
IN_TEXT = re.findall(r"`([a-z-]+)` \((\d+ ?\w*)\)", PAGE)


@pytest.mark.parametrize(("name", "told"), ROWS + IN_TEXT, ids=[name for name, _ in ROWS + IN_TEXT])
def test_a_default_is_the_one_that_is_told(name, told, tmp_path):
    default = settings_of([], tmp_path).get(name, "0")
    if told in ("off", "no limit"):
        assert default in ("0", "false")
    else:
        assert default == re.sub(r"[ ,]|bytes/s", "", told)


def test_the_tables_were_found():
    assert {"limit-request-line", "queue-timeout", "max-memory", "request-timeout"} <= {name for name, _ in ROWS}
    assert {"promote-after", "threads", "workers", "start-timeout"} <= {name for name, _ in IN_TEXT}
