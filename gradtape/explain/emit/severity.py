"""The severity of each code: "raise", "warn", "note" or "off".

Defaults are in the table of codes. `configure` changes them for the process, or for a block of one thread.
"""

from __future__ import annotations

from contextvars import ContextVar
from types import TracebackType

from gradtape.explain.model.codes import CODES, SEVERITIES

_of_process: dict[str, str] = {}
_of_context: ContextVar[dict[str, str]] = ContextVar("gradtape severities", default={})  # noqa: B039  (never mutated)


class configure:
    """Choose the severity of codes: "raise", "warn", "note" or "off"; with `with`, for the block and this thread only.

    A code may be given by its beginning: `GT5="off"` is all of GT501 to GT508. Codes that are "raise" by default are
    errors that nothing can go on after: theirs cannot be changed.

    >>> import gradtape as gt
    >>> with gt.explain.configure(GT101="raise", GT5="off"):
    ...     gt.explain.voice("GT101"), gt.explain.voice("GT503")
    ('raise', 'off')
    >>> gt.explain.voice("GT101")
    'warn'
    """

    def __init__(self, **severities: str) -> None:
        global _of_process
        self._chosen = _expand_prefixes(severities)
        self._before = _of_process
        _of_process = {**_of_process, **self._chosen}

    def __enter__(self) -> configure:
        global _of_process
        _of_process = self._before
        self._token = _of_context.set({**_of_context.get(), **self._chosen})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        _of_context.reset(self._token)


def _expand_prefixes(severities: dict[str, str]) -> dict[str, str]:
    """The severity of each code that a key of `severities` is, or is the beginning of."""
    chosen = {}
    for name, value in severities.items():
        if value not in SEVERITIES:
            raise ValueError(f"{name}={value!r}: a voice is one of {', '.join(map(repr, SEVERITIES))}")
        codes = [code for code in CODES if code.startswith(name)]
        if not codes:
            raise ValueError(f"{name} is no code; `gradtape why` lists them")
        if name in CODES and CODES[name].is_fixed and value != "raise":
            raise ValueError(f"{name} ({CODES[name].title}) is always an error: nothing could go on after it")
        chosen.update({code: value for code in codes if not CODES[code].is_fixed})
    return chosen


def severity(code: str) -> str:
    """The severity of `code` now; public as `gt.explain.voice`."""
    chosen = _of_context.get().get(code) or _of_process.get(code)
    return chosen or CODES[code].severity
