"""The pictures that the README shows say what gradtape says now."""

from __future__ import annotations

import re
import warnings
from html import unescape

from tools import message_picture


def test_picture_of_a_message_has_the_text_that_is_printed() -> None:
    """The words of docs/images/message.svg, row by row, are those of the message of its program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the message itself
        printed = message_picture.plain(message_picture.message())
    rows: dict[str, str] = {}
    for y, words in re.findall(
        r' y="(\d+)" textLength[^>]*>([^<]*)</text>', message_picture.PICTURE.read_text("utf-8")
    ):
        rows[y] = rows.get(y, "") + unescape(words)
    assert ["".join(row.split()) for row in rows.values()] == ["".join(row.split()) for row in printed.split("\n")], (
        "python -m tools.message_picture draws it anew"
    )
