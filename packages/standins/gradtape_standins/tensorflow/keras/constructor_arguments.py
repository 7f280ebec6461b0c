"""Objects that remember what they were made with, so that another one can be made, or a file say how."""

from __future__ import annotations

from typing import Any


class KeepsConstructorArguments:
    """Keeps the arguments that it is made with."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = object.__new__(cls)
        made.__dict__["_arguments"] = (args, kwargs)
        return made
