"""Running a snippet under the stand-ins, and comparing what it printed with what the original printed."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import random
import re
import runpy
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import gradtape
import gradtape_standins
from gradtape.errors import GradientWarning
from gradtape_standins import standing_in

SNIPPETS = Path(__file__).parent / "snippets"
SOURCES = os.pathsep.join(str(Path(module.__file__).parents[1]) for module in (gradtape, gradtape_standins))
"""The PYTHONPATH of processes that run this gradtape with these stand-ins."""

RELATIVE, ABSOLUTE = 1e-4, 1e-6
_NUMBER = re.compile(r"(?<![A-Za-z_])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_ORDERED = re.compile(r"OrderedDict\((\{.*\})\)")


@dataclass
class Outcome:
    """What a snippet printed, and the warnings about gradients that were given meanwhile."""

    output: str
    warned: list[str]


def snippets(library: str = "*") -> list[Path]:
    """The snippets that are there, in alphabetical order; each prints what is in the `.txt` beside it."""
    return sorted(SNIPPETS.glob(f"{library}/*.py"))


def run_standing_in(script: Path) -> Outcome:
    """Run a script in this process with the stand-ins in the place of the libraries."""
    said = io.StringIO()
    before = (sys.argv[:], sys.path[:], np.random.get_state(), random.getstate())
    sys.argv[:] = [str(script)]
    sys.path.insert(0, os.path.dirname(script))
    try:
        with (
            warnings.catch_warnings(record=True) as caught,
            np.printoptions(),
            contextlib.redirect_stdout(said),
            standing_in(),
        ):
            warnings.simplefilter("always")
            runpy.run_path(str(script), run_name="__main__")
    finally:
        sys.argv[:], sys.path[:] = before[:2]
        np.random.set_state(before[2])
        random.setstate(before[3])
    return Outcome(said.getvalue(), [str(w.message) for w in caught if issubclass(w.category, GradientWarning)])


def differences(ours: str, theirs: str) -> list[str]:
    """The lines in which two outputs differ, beyond the last digits of numbers and the width of columns."""
    our_lines, their_lines = ours.rstrip("\n").split("\n"), theirs.rstrip("\n").split("\n")
    found = [
        f"line {number}:\n  stand-in: {our}\n  original: {their}"
        for number, (our, their) in enumerate(zip(our_lines, their_lines), 1)
        if not same(our, their)
    ]
    if len(our_lines) != len(their_lines):
        found.append(f"{len(our_lines)} lines printed, {len(their_lines)} by the original")
    return found


def same(our_line: str, their_line: str) -> bool:
    """Whether two lines have the same words in the same order, and numbers that are the same up to last digits.

    An integer and a float are not the same, so `4` is not `4.`; but `4.` is `4.0`, as rounding makes one or the other.
    """
    our_line, their_line = _as_pairs(our_line), _as_pairs(their_line)
    ours, theirs = _NUMBER.findall(our_line), _NUMBER.findall(their_line)
    if _words(our_line) != _words(their_line) or len(ours) != len(theirs):
        return False
    return all(_close(our, their) for our, their in zip(ours, theirs))


def _as_pairs(line: str) -> str:
    """`OrderedDict({'a': 1})`, as Python prints it from 3.12 on, in the older form `OrderedDict([('a', 1)])`."""
    return _ORDERED.sub(lambda found: f"OrderedDict({[*ast.literal_eval(found[1]).items()]})", line)


def _words(line: str) -> list[str]:
    return ["".join(part.split()) for part in _NUMBER.split(line)]


def _close(ours: str, theirs: str) -> bool:
    if ours.lstrip("+-").isdigit() != theirs.lstrip("+-").isdigit():
        return False
    return abs(float(ours) - float(theirs)) <= ABSOLUTE + RELATIVE * abs(float(theirs))
