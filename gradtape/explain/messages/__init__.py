"""Errors of the kernel: one function for each situation, which returns the error to raise.

Each error carries a `Problem`: what was given, where (the user's expression), what is accepted, and a fix. The kernel
detects, these modules describe. They are loaded with the first error: a program without problems pays nothing.

build        constructs problems and errors
from_text    problems of errors that were raised with a text only
operations   operands, arguments and axes that an operation refuses
tensors      tensors and their values, reading and writing them
gradients    tapes, seeds, `.backward()`, gradients that are None
rules        gradient rules and hooks
transforms   transforms of functions: structures, tangents, results, batches
"""

import importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from gradtape.explain.messages.build import *  # noqa: F403
    from gradtape.explain.messages.from_text import *  # noqa: F403
    from gradtape.explain.messages.gradients import *  # noqa: F403
    from gradtape.explain.messages.operations import *  # noqa: F403
    from gradtape.explain.messages.rules import *  # noqa: F403
    from gradtape.explain.messages.tensors import *  # noqa: F403
    from gradtape.explain.messages.transforms import *  # noqa: F403

_HOMES = ("build", "from_text", "operations", "tensors", "gradients", "rules", "transforms")


def __getattr__(name: str) -> _Any:
    """Import a function from the module that has it."""
    for home in () if name.startswith("_") else _HOMES:
        module = importlib.import_module(f"{__name__}.{home}")
        if name in module.__all__:
            globals()[name] = found = getattr(module, name)
            return found
    raise AttributeError(f"gradtape.explain.messages has no message {name!r}")
