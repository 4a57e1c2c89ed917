"""A body that came in chunks, as the application sees it: the coding is undone, so its length is known."""

import pytest

from harness.request import chunked, chunks


@pytest.mark.parametrize(
    "pieces",
    [(), (b"a",), (b"hello ", b"world"), (b"x" * 700_000, b"y" * 700_000)],
    ids=["none", "one", "two", "in a file"],
)
def test_the_length_of_a_chunked_body_is_given_and_its_coding_is_not(share, pieces):
    # Django reads CONTENT_LENGTH only; Bottle would decode chunks once more if it saw the coding.
    with share("echo:app").raw() as client:
        seen = client.ask(chunked(chunks(*pieces))).json()
    body = b"".join(pieces)
    assert seen["body"] == body.decode()
    assert seen["environ"]["CONTENT_LENGTH"] == str(len(body))
    assert "HTTP_TRANSFER_ENCODING" not in seen["environ"]
