"""Hooks where a value leaves TensorFlow: as a number, as an array of NumPy's, or into a function of NumPy's."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import script_ops

from gradtape.core.location import Location, is_library
from gradtape.watching.record import CONSTANT
from gradtape.watching.tensorflow import values
from gradtape.watching.tensorflow.hooks import Patches
from gradtape.watching.tensorflow.recorder import HeldCut
from gradtape.watching.tensorflow.recording import Recording
from gradtape.watching.tensorflow.training import TrainingJudge

_EXITS = {
    "numpy": ".numpy()",
    "__float__": "float()",
    "__int__": "int()",
    "__complex__": "complex()",
    "__bool__": "bool()",
    "__index__": "operator.index()",
    "__array__": "np.asarray()",
    "tolist": ".tolist()",
}


class ExitHooks:
    """Records a cut wherever a tracked value becomes one that TensorFlow knows nothing of."""

    def __init__(self, recording: Recording, training: TrainingJudge) -> None:
        self._recording = recording
        self._recorder = recording.recorder
        self._training = training
        self._is_leaving = 0

    def patch(self, patches: Patches) -> None:
        """Put the hooks in place."""
        patches.wrap(script_ops, "py_func_common", self._wrap_numpy_function)
        for name, reason in _EXITS.items():
            patches.wrap(values.EagerBase, name, self._wrap_exit(reason))
        backend = sys.modules.get("keras.src.backend")
        if backend is not None:
            patches.wrap(backend, "convert_to_numpy", self._wrap_conversion)

    def _wrap_conversion(self, original: Any) -> Any:
        leave = self._wrap_exit("convert_to_numpy()")(original)

        def convert_to_numpy(x: Any) -> Any:
            caller = sys._getframe(1).f_back  # of the function of keras.ops
            is_asked = caller is not None and not is_library(caller.f_code.co_filename)
            return leave(x) if is_asked and values.is_eager(x) else original(x)

        return convert_to_numpy

    def _wrap_exit(self, reason: str) -> Callable[[Any], Any]:
        def make(original: Any) -> Any:
            def leave(tensor: Any, *arguments: Any, **options: Any) -> Any:
                if not self._recording.is_on or self._is_leaving or not self._recording.is_mine():
                    return original(tensor, *arguments, **options)
                self._is_leaving += 1
                try:
                    result = original(tensor, *arguments, **options)
                finally:
                    self._is_leaving -= 1
                self._recording.guard.call(self._left, tensor, reason, result)
                return result

            return leave

        return make

    def _left(self, tensor: Any, reason: str, result: Any) -> None:
        self._training.note_used([tensor])
        record = self._recorder.record_of(tensor)
        if record is None or record is CONSTANT or not (record.is_tracked or record.is_cut):
            return
        frame: Any = sys._getframe(1)
        outermost = ""
        while frame is not None and is_library(frame.f_code.co_filename):
            if frame.f_code.co_filename.startswith(os.path.dirname(tf.__file__)) or "keras" in frame.f_code.co_filename:
                outermost = frame.f_code.co_name
            frame = frame.f_back
        value = float(result) if np.ndim(result) == 0 and isinstance(result, (float, np.floating)) else None
        cut = self._recorder.cut(_EXITS.get(outermost, reason), [record], None, Location.here(), value)
        cut.library = "tensorflow"
        cut.params = {**cut.params, "shape": np.shape(result)}
        cut.held = record  # type: ignore[attr-defined]

    def _wrap_numpy_function(self, original: Any) -> Any:
        def py_func_common(function: Any, inputs: Any, *arguments: Any, **options: Any) -> Any:
            result = original(function, inputs, *arguments, **options)
            if self._recording.is_on and self._recording.is_mine():
                self._recording.guard.call(self._left_for_numpy, inputs, result)
            return result

        return py_func_common

    def _left_for_numpy(self, inputs: Any, results: Any) -> None:
        """Note that results were computed by a function of NumPy's arrays, for which there is no gradient."""
        records = [self._recorder.record_of(x) for x in tf.nest.flatten(inputs)]
        tracked = [record for record in records if record is not None and record.is_tracked]
        for result in tf.nest.flatten(results) if tracked else ():
            if self._recorder.is_tensor(result):
                shape, dtype = self._recorder.spec_of(result)
                self._recorder.note(result, HeldCut("tf.numpy_function", shape, dtype, Location.here(), tracked))


__all__ = ["ExitHooks"]
