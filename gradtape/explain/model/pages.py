"""The pages of the codes: read one, search all of them, and find the codes most like a mistyped one."""

from __future__ import annotations

import difflib
from importlib import resources

from gradtape.explain.model.codes import CODES, Code


def page(code: str) -> str:
    """The page of `code`, in Markdown.

    >>> print(page("GT101").splitlines()[0])
    # GT101: accidental outer broadcast
    """
    return (resources.files("gradtape.explain.model") / "pages" / f"{code}.md").read_text("utf-8").rstrip("\n")


def search(text: str) -> list[Code]:
    """The codes whose pages contain `text`, regardless of case and line breaks.

    >>> [code.code for code in search("implicitly created only for scalar outputs")]
    ['GT307']
    """
    wanted = _normalise(text)
    return [row for row in CODES.values() if wanted and wanted in _normalise(page(row.code))]


def _normalise(text: str) -> str:
    return " ".join(text.lower().split())


def nearest(word: str, count: int = 3) -> list[Code]:
    """The codes that look most like `word`, or whose titles do.

    >>> nearest("GT11")[0].code
    'GT110'
    """
    typed = word.upper()

    def difference(row: Code) -> float:
        if any(character.isdigit() for character in word):
            return -sum(one == other for one, other in zip(typed, row.code))
        return -difflib.SequenceMatcher(None, word.lower(), row.title).ratio()

    return sorted(CODES.values(), key=difference)[:count]
