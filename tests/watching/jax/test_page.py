"""docs/jax.md: each program is run with JAX alone and watched, and what the page shows is what is printed.

`python tests/watching/jax/test_page.py` writes what is printed now.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jax", reason="JAX is not installed: its programs cannot be watched")
from gradtape.explain.emit.policy import forget_warned
from gradtape.watching import watch

PAGE = Path(__file__).parents[3] / "docs" / "jax.md"
PROGRAM = re.compile(
    r"```py\n# (\w+\.py)\n(.*?)```\n\nJAX:\n\n```text\n(.*?)```\n\ngradtape:\n\n```text\n(.*?)```", re.DOTALL
)
WIDTH = 110


def execute(name: str, source: str, is_watched: bool) -> tuple[str, list[str]]:
    """What a program prints, with the error that ends it, and the explanations."""
    text = f"# {name}\n{source}"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    printed, said = io.StringIO(), []
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        forget_warned()
        try:
            with watch("jax", tell=lambda note: None) if is_watched else contextlib.nullcontext():
                exec(compile(text, name, "exec"), {"__name__": "__main__", "__file__": name})
        except Exception as error:
            words = str(error).partition("\n")[0]
            printed.write(f"{type(error).__name__}: {words if len(words) < WIDTH else words[:WIDTH] + ' ...'}\n")
            problem: Any = getattr(error, "problem", None)
            said += [] if problem is None else [str(problem)]
    said += [str(warning.message) for warning in caught if hasattr(warning.message, "problem")]
    return printed.getvalue(), said


def shown(name: str, source: str) -> tuple[str, str]:
    """The two text blocks of a program."""
    alone, _ = execute(name, source, False)
    watched, said = execute(name, source, True)
    assert watched == alone
    return alone or "(nothing)\n", "".join(f"{text.rstrip()}\n" for text in said[:1])


@pytest.mark.parametrize("part", range(4))
def test_the_page_shows_what_is_printed(part: int) -> None:
    """Each program, with JAX alone and watched, prints what stands below it."""
    programs = list(PROGRAM.finditer(PAGE.read_text()))
    assert len(programs) >= 16
    for found in programs[part::4]:
        name, source, alone, said = found.groups()
        assert shown(name, source) == (alone, said), name


def write() -> None:
    """Write what each program prints now."""

    def filled(found: re.Match[str]) -> str:
        alone, said = shown(found[1], found[2])
        return f"```py\n# {found[1]}\n{found[2]}```\n\nJAX:\n\n```text\n{alone}```\n\ngradtape:\n\n```text\n{said}```"

    PAGE.write_text(PROGRAM.sub(filled, PAGE.read_text()))


if __name__ == "__main__":
    write()
