"""`tf.train`: checkpoints of variables, in safetensors files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gradtape.extend import concrete
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow.conversion import integers
from gradtape_standins.tensorflow.errors import DataLossError, NotFoundError, check_supported, explained
from gradtape_standins.tensorflow.variable import Variable

_SUFFIX = ".safetensors"


def _named(prefix: str, value: Any, found: dict[str, Variable]) -> None:
    """The variables in `value` by their places; the same for equal models, whatever their variables are called."""
    if isinstance(value, Variable):
        found[prefix] = value
    elif isinstance(value, dict):
        for key in value:
            _named(f"{prefix}/{key}", value[key], found)
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            _named(f"{prefix}/{place}", part, found)
    elif hasattr(value, "variables"):
        _named(prefix, list(value.variables), found)


class Checkpoint:
    """Variables, by name, that are written to files and read back.

    >>> from gradtape_standins import tensorflow as tf
    >>> import os, tempfile
    >>> v = tf.Variable(1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=v).save(os.path.join(folder, "ckpt"))
    ...     _ = v.assign(5.0)
    ...     _ = tf.train.Checkpoint(v=v).restore(path)
    >>> v.numpy()
    np.float32(1.0)
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._held = {**({} if root is None else {"root": root}), **kwargs}
        self.save_counter = 0
        for name, value in kwargs.items():
            setattr(self, name, value)

    def _variables(self) -> dict[str, Variable]:
        found: dict[str, Variable] = {}
        for name, value in self._held.items():
            _named(name, value, found)
        return found

    def _deferred(self, unknown: set[str]) -> dict[str, list[str]]:
        """What belongs to optimisers that have not made a step yet, and take it over when they do; in its order."""
        found = {}
        for name, value in self._held.items():
            mine = [key for key in unknown if key.startswith(f"{name}/")]
            if mine and hasattr(value, "defer"):
                found[name] = sorted(mine, key=lambda key: int(key.rpartition("/")[2]))
        return found

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Write the variables to a file; its name without ending is returned."""
        import gradtape as gt

        gt.nn.save(f"{file_prefix}{_SUFFIX}", {name: concrete(v._value) for name, v in self._variables().items()})
        return str(file_prefix)

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write the variables to a new file, numbered."""
        self.save_counter += 1
        return self.write(f"{file_prefix}-{self.save_counter}")

    def read(self, save_path: Any, options: Any = None) -> Any:
        """Read the variables from a file: all of them or, if one does not fit, none."""
        import gradtape as gt

        path = Path(f"{save_path}{_SUFFIX}")
        if not path.exists():
            raise NotFoundError(None, None, explained(f"there is no checkpoint {save_path} ({path.name})"))
        try:
            stored = gt.nn.load(path)
        except gt.nn.CheckpointError as error:
            raise DataLossError(None, None, str(error)) from None
        variables = self._variables()
        later = self._deferred(set(stored) - set(variables))
        taken = {name for names in later.values() for name in names}
        if set(stored) - taken != set(variables):
            odd = ", ".join(sorted((set(stored) - taken) ^ set(variables))[:5])
            raise DataLossError(None, None, explained(f"{path.name} is of other variables; they differ in: {odd}"))
        for name, variable in variables.items():
            if np.shape(stored[name]) != tuple(variable.shape):
                raise DataLossError(
                    None,
                    None,
                    explained(f"{name} has shape {np.shape(stored[name])} in {path.name}, and {variable.shape} here"),
                )
        for name, variable in variables.items():
            variable.assign(np.asarray(stored[name]))
        for holder, names in later.items():
            self._held[holder].defer([stored[name] for name in names])
        return CheckpointLoadStatus()

    restore = read


class CheckpointLoadStatus:
    """What `restore` returns: everything was restored, or it would have raised."""

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Nothing to complain of."""
        return self

    assert_existing_objects_matched = expect_partial = assert_nontrivial_match = assert_consumed


class CheckpointManager:
    """Numbered checkpoints in a folder, of which the last few are kept."""

    def __init__(
        self, checkpoint: Checkpoint, directory: Any, max_to_keep: int | None = 5, checkpoint_name: str = "ckpt"
    ) -> None:
        self.checkpoint = checkpoint
        self._prefix = Path(directory) / checkpoint_name
        self._most = max_to_keep

    @property
    def checkpoints(self) -> list[str]:
        """The names of the files that there are, oldest first."""
        found = self._prefix.parent.glob(f"{self._prefix.name}-*{_SUFFIX}")
        names = [str(path)[: -len(_SUFFIX)] for path in found]
        return sorted(names, key=lambda name: int(name.rpartition("-")[2]))

    @property
    def latest_checkpoint(self) -> str | None:
        """The newest file."""
        return self.checkpoints[-1] if self.checkpoints else None

    def save(self, checkpoint_number: Any = None) -> str:
        """Write a checkpoint and delete the oldest if there are too many."""
        self._prefix.parent.mkdir(parents=True, exist_ok=True)
        last = self.latest_checkpoint
        self.checkpoint.save_counter = 0 if last is None else int(last.rpartition("-")[2])
        if checkpoint_number is not None:
            self.checkpoint.save_counter = integers(checkpoint_number) - 1
        path = self.checkpoint.save(self._prefix)
        if self._most is not None:
            for name in self.checkpoints[: -self._most]:
                Path(f"{name}{_SUFFIX}").unlink()
        return path


def latest_checkpoint(checkpoint_dir: Any, latest_filename: Any = None) -> str | None:
    """The newest checkpoint in a folder."""
    found = sorted(Path(checkpoint_dir).glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime_ns)
    return str(found[-1])[: -len(_SUFFIX)] if found else None


class ExponentialMovingAverage:
    """Averages of variables, in which what is older counts less.

    >>> from gradtape_standins import tensorflow as tf
    >>> averages, v = tf.train.ExponentialMovingAverage(0.5), tf.Variable(1.0)
    >>> averages.apply([v])
    >>> _ = v.assign(3.0)
    >>> averages.apply([v])
    >>> averages.average(v).numpy()
    np.float32(2.0)
    """

    def __init__(self, decay: float, num_updates: Any = None, zero_debias: bool = False, name: str = "EMA") -> None:
        check_supported("ExponentialMovingAverage", num_updates=(num_updates, None), zero_debias=(zero_debias, False))
        self.decay, self.name = decay, name
        self._averages: dict[int, tuple[Any, Variable]] = {}

    def apply(self, var_list: Any = None) -> None:
        """Take the present values in; of a variable that is met for the first time, as the average."""
        for variable in var_list or []:
            value = concrete(variable._value)
            if id(variable) not in self._averages:
                self._averages[id(variable)] = (variable, Variable(np.array(value), trainable=False))
                continue
            average = self._averages[id(variable)][1]
            average.assign_sub((1.0 - self.decay) * (average.numpy() - value))

    def average(self, var: Any) -> Any:
        """The average of a variable; None if it was never met."""
        return self._averages[id(var)][1] if id(var) in self._averages else None


__all__ = ["Checkpoint", "CheckpointManager", "ExponentialMovingAverage", "latest_checkpoint"]
__getattr__ = missing(__name__)
