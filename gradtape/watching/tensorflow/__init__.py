"""Watches programs that compute gradients with TensorFlow and Keras.

operations   TensorFlow's operations by the names of gradtape's table
values       tensors, variables, their shapes and arrays
recorder     a record for each operation that is executed or built into a graph
tapes        a tape, as the search for a lost gradient asks it
replay       a recorded operation and its gradient rule, executed again
gradients    what is judged when a tape has given gradients
missing      why a gradient is None
errors       explanations of the errors of TensorFlow and Keras
losses       what losses are given
rules        rules of tf.custom_gradient
training     variables that do not learn
autograph    the user's lines behind code that tf.function has generated
functions    numbers inside tf.function and fit
queries      why a gradient is what it is; whether the examples of a batch are independent
watcher      begins and ends the watching, and records each operation
recording    whether operations are recorded now, and in which thread
hooks        how TensorFlow is patched, and the guard around it
tape_hooks, variable_hooks, graph_hooks, keras_hooks, optimiser_hooks, rule_hooks, failure_hooks, exit_hooks,
entry_hooks, array_hooks
             what runs at tapes, variables, compiled functions, Keras, its optimisers, custom gradients, failing
             operations, where a value leaves TensorFlow or enters it as an array, and at TensorArrays
batches      what is read from calls of fit and of compiled functions
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """`Watcher`, loaded when it is asked for: it imports TensorFlow, which the tables beside it do without."""
    if name != "Watcher":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gradtape.watching.tensorflow.watcher import Watcher

    return Watcher


__all__ = ["Watcher"]
