"""The errors of the solvers: what was given, at the user's line, and what to write instead."""

from __future__ import annotations

from gradtape.core.location import Location
from gradtape.errors import GradTapeError
from gradtape.explain import messages


def solver_error(kind: type[GradTapeError], what: str, fix: str, code: str = "") -> GradTapeError:
    """An error of class `kind` that says `what` is wrong, shows the user's expression, and has a `fix`.

    Without a `code` it has that of its class.
    """
    if code:
        return kind(messages.problem(code, what.rstrip("."), fixes=fix))
    return kind(f"{what}\n{Location.here().show()}\n  fix: {fix}")


WRONG_VALUE = "GT314"
"""The code of an argument whose value makes no sense, for errors of value as well."""
