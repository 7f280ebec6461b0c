"""Which watcher answers questions about a library's values: the one that records, or the last one that has ended."""

from __future__ import annotations

from typing import Any


class RecentWatchers:
    """The watchers of one library that can say why a gradient is what it is.

    A question is most often asked after the block, when the gradient is there and is not what was expected. So the
    records of the last block are kept until another one begins.
    """

    def __init__(self) -> None:
        self._recording: list[Any] = []
        self._ended: Any = None

    def begin(self, watcher: Any) -> None:
        """A watcher begins to record."""
        self._recording.append(watcher)

    def end(self, watcher: Any, keep: bool = True) -> None:
        """A watcher has ended; its records are kept for questions, or forgotten."""
        if watcher in self._recording:
            self._recording.remove(watcher)
        if not keep:
            watcher.recorder.forget()
            return
        before, self._ended = self._ended, watcher
        if before is not None:
            before.recorder.forget()

    @property
    def is_recording(self) -> bool:
        """Whether one is recording now."""
        return bool(self._recording)

    @property
    def current(self) -> Any:
        """The innermost watcher that records, else the last one that has ended; None if there was none."""
        return self._recording[-1] if self._recording else self._ended


__all__ = ["RecentWatchers"]
