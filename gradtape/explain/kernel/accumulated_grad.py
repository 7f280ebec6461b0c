"""The state of an accumulated gradient in the kernel, as the detector of `.grad` that was not cleared needs it.

`Extra.use` is that state: READ since it was filled, SPENT in a change of its tensor, ADDED to after that without being
cleared.
"""

from __future__ import annotations

from gradtape.core.graph import ADDED, SPENT, Extra
from gradtape.explain.detectors.accumulated_grad import warn_added


def note_parameter_change(extra: Extra) -> None:
    """Mark the gradient as spent, before its tensor changes; warn if it contains that of an earlier step."""
    was_added, where = extra.use & ADDED, extra.added
    extra.use, extra.added = SPENT, None
    if was_added and where is not None:
        warn_added(where)
