"""`gradtape why GT101`: the page of a code; without one, the list of all."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any

from gradtape.commands import terminal
from gradtape.explain.model.codes import CODES, Code
from gradtape.explain.model.pages import nearest, page, search

DESCRIPTION = """\
Print the page of a code: the situation, a program, its message, why, the cure,
and what other libraries say there. Without a code, all codes with their titles.
Anything else is looked for in the pages, such as another library's message:

  gradtape why
  gradtape why GT101
  gradtape why "can be implicitly created only for scalar outputs"
"""
EXIT_CODES = """\
exit status:
  0  printed
  2  there is no such code, and no page has the words; the nearest are named on stderr
"""
GROUPS = {
    "1": "shapes",
    "2": "a gradient that is None",
    "3": "used in a way that cannot work",
    "4": "numbers",
    "5": "silent mistakes and the health of training",
    "6": "beyond one process",
    "7": "compiled functions that are slow",
}
_SEVERITIES = {"raise": "an error", "warn": "warned of", "note": "noted"}


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "why",
        help="the page of a code such as GT101, or the list of codes",
        description=DESCRIPTION,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("code", nargs="*", help="a code (GT101, gt101 or 101), or words to look for")
    return parser


def main(arguments: argparse.Namespace) -> int:
    """Print the pages; the exit status."""
    words: list[str] = arguments.code
    if not words:
        print(listing())
        return 0
    codes = [_as_code(word) for word in words]
    if all(code in CODES for code in codes):
        print("\n\n".join(_shown(page(code)) for code in codes))
        return 0
    text = " ".join(words)
    found = search(text)
    if len(found) == 1:
        print(_shown(page(found[0].code)))
    elif found:
        print(f"{text!r} is in the pages of these codes:\n" + "\n".join(map(_row, found)))
    else:
        unknown = next((word for word, code in zip(words, codes) if code not in CODES), text)
        near = "\n".join(map(_row, nearest(unknown)))
        terminal.complain(f"why: {unknown!r} is no code, and no page has these words; the nearest are\n{near}")
        return 2
    return 0


def listing() -> str:
    """All codes with their titles, in groups."""
    lines = []
    for digit, group in GROUPS.items():
        lines.append(f"GT{digit}xx: {group}")
        lines += [f"{_row(code)}  ({_SEVERITIES[code.severity]})" for code in CODES.values() if code.code[2] == digit]
    return "\n".join([*lines, "", "gradtape why CODE prints the page of one."])


def _row(code: Code) -> str:
    return f"  {code.code}  {code.title}"


def _as_code(word: str) -> str:
    return f"GT{word}" if re.fullmatch(r"\d{3}", word) else word.upper()


def _shown(text: str) -> str:
    """A page as it is, with its headings in bold on a terminal."""
    if not terminal.has_colour(sys.stdout):
        return text
    return re.sub(r"^#+ .*$", lambda heading: f"\033[1m{heading[0]}\033[0m", text, flags=re.MULTILINE)
