"""Watching: explanations for programs that compute gradients with PyTorch, TensorFlow, Keras or JAX, unchanged.

watch()         the block that watches; `gradtape run script.py` does the same for a whole script
imports         when one of the libraries is imported
recent_watchers whose records answer `gt.explain.why`
budget          how long a program is watched
record          records of operations that a library executed, as detectors read them
recorder        the records of a library's values
computation     the records behind a gradient, and a backward pass over them
judge           runs the detectors on them
examples        the examples of a batch, and which of them a gradient reaches
meetings        where examples of a batch meet
facts           what the report shows of a gradient
observers       who is told of each gradient
notebook        %%gradtape
torch, tensorflow, jax   what is particular to each library; loaded when the program has imported it

Nothing here imports one of those libraries before the program does.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from gradtape.explain.emit.policy import report
from gradtape.explain.model.problem import Problem
from gradtape.watching.budget import SECONDS, STEPS, Budget
from gradtape.watching.imports import calling_after_import
from gradtape.watching.observers import Observer, observers

LIBRARIES = ("torch", "tensorflow", "jax")


class LibraryWatcher(Protocol):
    """What is particular to one library: `gradtape.watching.torch.Watcher` and its like, made with a `Budget`."""

    def start(self) -> None:
        """Begin to record what the library executes."""
        ...

    def stop(self) -> None:
        """Leave the library as it was."""
        ...

    def finish(self) -> None:
        """Judge what can only be judged when the program has ended: a parameter that was never used."""
        ...

    def explain(self, error: BaseException) -> Problem | None:
        """The explanation of an error that the library raised and that ended the program; None if there is none."""
        ...


class Watching:
    """The libraries that are being watched."""

    def __init__(self, tell: Callable[[Problem], None], steps: int, seconds: float) -> None:
        self.tell = tell
        self.watchers: dict[str, LibraryWatcher] = {}
        self._limits = steps, seconds

    def begin(self, library: str) -> None:
        """Watch a library that has been imported."""
        if library not in self.watchers:
            try:
                module = importlib.import_module(f"gradtape.watching.{library}")
                watcher: LibraryWatcher = module.Watcher(Budget(*self._limits), self.tell)
                self.watchers[library] = watcher
                watcher.start()
            except Exception as error:  # a version with other internals: the program runs without being watched
                if os.environ.get("GRADTAPE_WATCH_DEBUG") == "1":
                    raise
                if library in self.watchers:
                    self.watchers.pop(library).stop()
                version = getattr(sys.modules.get(library), "__version__", "")
                text = f"gradtape does not know this version, {library} {version}, and does not watch it"
                warnings.warn(f"{text} ({type(error).__name__}: {error})", RuntimeWarning, stacklevel=2)

    def explain(self, error: BaseException) -> Problem | None:
        """The explanation of an error of one of the libraries; None if there is none."""
        known: Problem | None = getattr(error, "problem", None)
        found = (watcher.explain(error) for watcher in self.watchers.values())
        return known or next((each for each in found if each is not None), None)

    def finish(self) -> None:
        """Judge what can only be judged at the end."""
        for watcher in self.watchers.values():
            watcher.finish()

    def end(self) -> None:
        """Leave all libraries as they were."""
        for watcher in reversed(self.watchers.values()):
            watcher.stop()
        self.watchers.clear()


@contextmanager
def watch(
    *libraries: str,
    steps: int = STEPS,
    seconds: float = SECONDS,
    tell: Callable[[Problem], Any] = report,
    observe: Observer | None = None,
) -> Iterator[Watching]:
    """Inside, programs of PyTorch, TensorFlow, Keras and JAX are watched, and what is wrong with a gradient explained.

    `libraries` are names out of "torch", "tensorflow" and "jax"; without any, all three, as soon as they are imported.
    Recorded are the first `steps` gradients of each place, and up to 40 until recording has taken `seconds` in all.
    What is found is reported as for gradtape's own programs, or handed to `tell` if it is only worth a note. `observe`
    is called after each gradient with its place and a function that collects the facts of it, for a report.

    >>> import gradtape as gt
    >>> with gt.watch():
    ...     pass  # import torch, and train
    """
    unknown = [name for name in libraries if name not in LIBRARIES]
    if unknown:
        raise ValueError(
            f"watch({unknown[0]!r}): there is no such library to watch; one of {', '.join(map(repr, LIBRARIES))}, or "
            "nothing for all of them"
        )
    if not isinstance(steps, int) or steps < 0:
        raise ValueError(f"watch(steps={steps!r}): a number of gradients, 0 or more, for example steps=3")
    watching = Watching(tell, steps, seconds)
    if observe is not None:
        observers.append(observe)
    with calling_after_import(libraries or LIBRARIES, watching.begin):
        try:
            yield watching
            watching.finish()
        except SystemExit:
            watching.finish()
            raise
        except Exception as error:
            watching.explain(error)
            raise
        finally:
            watching.end()
            if observe is not None:
                observers.remove(observe)


__all__ = ["LIBRARIES", "Watching", "watch"]
