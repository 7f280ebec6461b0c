"""Snippets in the style of the originals' guides print under the stand-ins what they print under the originals."""

from __future__ import annotations

from pathlib import Path

import pytest
from snippet_comparison import differences, run_standing_in, same, snippets


@pytest.mark.parametrize("script", snippets(), ids=lambda script: f"{script.parent.name}/{script.stem}")
def test_snippet_prints_what_the_original_prints(script: Path) -> None:
    """Line by line, the output is the one stored beside the snippet, which the real library has printed."""
    outcome = run_standing_in(script)
    assert not differences(outcome.output, script.with_suffix(".txt").read_text())


@pytest.mark.parametrize("script", snippets(), ids=lambda script: f"{script.parent.name}/{script.stem}")
def test_every_snippet_says_something(script: Path) -> None:
    """A snippet whose stored output is empty would compare nothing."""
    assert script.with_suffix(".txt").read_text().strip()


@pytest.mark.parametrize(
    ("ours", "theirs", "equal"),
    [
        ("tensor(4.)", "tensor(4.0000001)", True),
        ("[1.  2. ]", "[1. 2.]", True),
        ("loss: 0.12345", "loss: 0.12346", True),
        ("x 1e-17", "x 0.0", True),
        ("OrderedDict({'a': {'b': 1}, 'c': 2})", "OrderedDict([('a', {'b': 1}), ('c', 2)])", True),
        ("OrderedDict({'a': 1})", "OrderedDict([('b', 1)])", False),
        ("tensor(4)", "tensor(4.)", False),
        ("tensor(4.)", "tensor(4.1)", False),
        ("None", "0.0", False),
        ("tf.Tensor(1.0, shape=())", "tf.Tensor(1.0, shape=(1,))", False),
        ("nan", "inf", False),
    ],
)
def test_comparison_sees_what_matters(ours: str, theirs: str, equal: bool) -> None:
    """Digits, widths and the form of an OrderedDict are let through; kinds of number, shapes, words, values are not."""
    assert same(ours, theirs) is equal


def test_comparison_counts_lines() -> None:
    """A line too few or too many is a difference."""
    assert differences("a\nb\n", "a\n")
    assert not differences("a\n", "a\n\n")
