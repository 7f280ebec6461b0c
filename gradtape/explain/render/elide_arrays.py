"""Replaces array dumps in messages by the shape of the array, and long lists by their length."""

from __future__ import annotations

import re

FEW = 6  # an array with at most so many numbers is left in the text
ITEMS = 12  # and so is a list with at most so many items

_DUMP = re.compile(r"(?<![\w.])(array|Tensor|Variable|Parameter|tensor)\((?=\s*\[)")
_OPEN, _CLOSE = "([{", ")]}"


def elide_arrays(text: str) -> str:
    """`text` with arrays of more than a few numbers replaced by their shape, and long lists shortened.

    >>> elide_arrays("rate=array([1., 2., 3., 4., 5., 6., 7.])"), elide_arrays("betas=[0.9, 0.99]")
    ('rate=an array of shape (7,)', 'betas=[0.9, 0.99]')
    """
    if len(text) < 30 or ("[" not in text and "," not in text):
        return text
    start = 0
    while (match := _DUMP.search(text, start)) is not None:
        end = _closing_end(text, match.end() - 1)
        body = text[match.end() : end - 1]
        start = match.end()
        if len(_items(body.partition("[")[2])) > FEW or body.count("[") > 1 or "..." in body:
            kind = match[1] if match[1][0].isupper() else "array"
            short = f"{'an' if kind == 'array' else 'a'} {kind}{_shape_in_words(body)}"
            text = text[: match.start()] + short + text[end:]
            start = match.start() + len(short)
    return _elide_long_sequences(text)


def _shape_in_words(body: str) -> str:
    stated = re.search(r"shape=(\([\d, ]*\))", body)
    if stated is not None:
        return f" of shape {stated[1]}"
    if "..." in body:
        return ""
    shape: list[int] = []
    inner = body.strip()
    while inner.startswith("["):
        items = _items(inner[1 : _closing_end(inner, 0) - 1])
        shape.append(len(items))
        inner = items[0].strip() if items else ""
    return f" of shape {tuple(shape)}"


def _elide_long_sequences(text: str) -> str:
    """Replace the items of long lists and tuples by the first few and their number."""
    place = 0
    while (found := re.compile(r"(?<![\w\])])[(\[]").search(text, place)) is not None:
        place = found.start()
        end = _closing_end(text, place)
        items = _items(text[place + 1 : end - 1])
        if len(items) > ITEMS and text[end - 1 : end] in ")]" and all(len(item.split()) <= 4 for item in items):
            first = ", ".join(item.strip() for item in items[:3])
            text = f"{text[:place]}{text[place]}{first}, ... {len(items)} in all{text[end - 1]}{text[end:]}"
        place += 1
    return text


def _closing_end(text: str, start: int) -> int:
    """The index after the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] in _OPEN) - (text[place] in _CLOSE)
        if depth == 0:
            return place + 1
    return len(text)


def _items(body: str) -> list[str]:
    """The items between the commas of the outermost level."""
    items: list[str] = []
    depth = start = 0
    for place, letter in enumerate(body):
        depth += (letter in _OPEN) - (letter in _CLOSE)
        if depth < 0:
            return [*items, body[start:place]]
        if letter == "," and depth == 0:
            items.append(body[start:place])
            start = place + 1
    return [*items, body[start:]] if body[start:].strip() else items
