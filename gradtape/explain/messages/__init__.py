"""The words of the kernel's errors: one function a situation, which returns the error to raise.

Each is a `Problem`: what was given, where (the user's expression), what is accepted, and a fix. The kernel decides,
these files word. Nothing of it is loaded before the first of them is made: a program without problems pays nothing.

build        how a finding is made
from_text    findings of errors that were given a text only
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
    """A message, from the file that has it."""
    for home in () if name.startswith("_") else _HOMES:
        module = importlib.import_module(f"{__name__}.{home}")
        if name in module.__all__:
            globals()[name] = found = getattr(module, name)
            return found
    raise AttributeError(f"gradtape.explain.messages has no message {name!r}")
