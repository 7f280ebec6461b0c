"""The shortest way into a program that is native as a whole: from plain arrays to the answer, with little in between.

A shortcut is for calls with nothing but arrays, by position. It checks all that an ordinary call checks, or gives up by
returning None, upon which the call takes the ordinary way: the arrays' dtypes, shapes and layouts are checked by the
native entry, and what the function read besides its arguments (its own code's globals and closed-over names) has to be
the very objects it was traced with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import recording
from gradtape.core.graph import AMBIENT
from gradtape.jit import backends
from gradtape.jit.environment import GONE

if TYPE_CHECKING:
    from gradtape.jit.arguments import CallArguments
    from gradtape.jit.compiled import Trace

Shortcut = Callable[..., Any]

_FILE = f"{__file__}:generated"


def shortcut(trace: Trace, call: CallArguments) -> Shortcut | None:
    """A function for calls like `call`, or None if there can be none for this trace."""
    if len(call.key) != 2 * len(call.arrays) or not all(type(array) is np.ndarray for array in call.arrays):
        return None
    survey, template = trace.survey, trace.template
    if trace.writes or survey.leaves or survey.twins or survey.watched or not template.as_numpy:
        return None
    if not (template.single or (template.flat and template.in_order)) or template.count != len(trace.program.outputs):
        return None
    entry = backends.whole(trace.program, trace.runner.steps, template.single)
    return None if entry is None else _checked(trace, entry)


def _checked(trace: Trace, entry: Shortcut) -> Shortcut:
    """`entry`, if what the function reads is still the same."""
    scope: dict[str, Any] = {"current": recording.current, "AMBIENT": AMBIENT, "GONE": GONE, "entry": entry}
    conditions = ["current().bits & AMBIENT"]
    for index, place in enumerate(trace.survey.fixed):
        scope |= {f"c{index}": place.container, f"k{index}": place.key, f"v{index}": place.value}
        read = f"c{index}.cell_contents" if place.key is None else f"c{index}[k{index}]"
        conditions.append(f"{read} is v{index}")
    for index, (container, size) in enumerate(trace.survey.sizes):
        scope[f"s{index}"] = container
        conditions.append(f"len(s{index}) == {size}")
    source = f"""def shortcut(*arrays):
    try:
        return entry(*arrays) if {" and ".join(conditions)} else None
    except GONE:
        return None
"""
    exec(compile(source, _FILE, "exec"), scope)
    made: Shortcut = scope["shortcut"]
    return made
