"""What `compile` was given, as objects: one loss for all outputs of a model, and its metrics as one."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape_standins.tensorflow import nest
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.keras import losses, metrics
from gradtape_standins.tensorflow.keras.metrics import Mean


def by_output(given: Any, names: list[str], count: int, what: str) -> list[Any]:
    """One of `given` (a dictionary by the names of outputs, a list, or one for all) for each of `count` outputs."""
    if isinstance(given, dict):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(
                explained(f"{what}: there is no output {', '.join(unknown)}", f"the outputs are {', '.join(names)}")
            )
        return [given.get(name) for name in names]
    if isinstance(given, list | tuple) and count > 1:
        if len(given) != count:
            raise ValueError(explained(f"{what}: {len(given)} given for {count} outputs"))
        return list(given)
    return [given] * count


def outputs_of(structure: Any, names: list[str]) -> tuple[list[str], list[Any]]:
    """The names and values of what a model returned, or of the targets for it; dictionaries go by their keys."""
    if isinstance(structure, dict):
        return list(structure), list(structure.values())
    values = list(structure) if isinstance(structure, list | tuple) else [structure]
    return (names if len(names) == len(values) else [f"output_{n}" for n in range(len(values))]), values


class CompileLoss:
    """The loss of a model: the weighted sum of the losses of its outputs.

    Where there are several, the mean of each is kept, to be shown beside the whole.
    """

    def __init__(self, loss: Any, weights: Any) -> None:
        if any(isinstance(one, str) for one in nest.flatten(weights)):
            raise ValueError(
                explained(
                    "compile: loss_weights, the third argument, are numbers; there is a text among them",
                    "metrics=['accuracy'], by name",
                )
            )
        self._given, self._weights = loss, weights
        self._made: list[Any] | None = None
        self.means: list[Mean] = []

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any, names: list[str], batch: float) -> Any:
        names, predictions = outputs_of(y_pred, names)
        targets = self._matching(y_true, names, len(predictions))
        if self._made is None:
            chosen = by_output(self._given, names, len(predictions), "loss")
            self._made = [None if one is None else losses.as_loss(one) for one in chosen]
            if len(predictions) > 1:
                self.means = [Mean(name=f"{name}_loss") for name in self._shown(chosen, names)]
        factors = by_output(self._weights, names, len(predictions), "loss_weights")
        examples = self._matching(sample_weight, names, len(predictions))
        total = None
        for place, loss in enumerate(self._made):
            if loss is None:
                continue
            part = loss(targets[place], predictions[place], examples[place])
            if self.means:
                self.means[place].update_state(part, batch)
            part = part if factors[place] is None else part * float(factors[place])
            total = part if total is None else total + part
        return total

    def _shown(self, chosen: list[Any], names: list[str]) -> list[str]:
        """The names of the outputs, or, where these have none, of their losses."""
        if names[0] != "output_0":
            return names
        made = zip(chosen, self._made or [], names)
        return [one if isinstance(one, str) else getattr(loss, "name", None) or name for one, loss, name in made]

    @staticmethod
    def _matching(given: Any, names: list[str], count: int) -> list[Any]:
        if isinstance(given, dict):
            return [given.get(name) for name in names]
        if count > 1 and isinstance(given, list | tuple):
            return list(given)
        return [given] * count


class CompileMetrics:
    """The metrics that `compile` was given, as one: Keras shows them so to a `train_step` of one's own."""

    name = "compile_metrics"

    def __init__(self, plain: Any, weighted: Any) -> None:
        self._given = (plain, False), (weighted, True)
        self._made: list[tuple[int, bool, Any]] | None = None

    def __bool__(self) -> bool:
        return any(given for given, _ in self._given)

    def _prepare(self, targets: list[Any], names: list[str], predictions: list[Any]) -> None:
        several = len(predictions) > 1
        self._made = []
        for given, is_weighted in self._given:
            nested = isinstance(given, dict) or (several and isinstance(given, list | tuple))
            chosen = by_output(given, names, len(predictions), "metrics") if nested else [given]
            order = list(range(len(chosen)))
            if isinstance(given, dict):  # by name, as Keras goes through dictionaries
                order.sort(key=lambda place: names[place])
            for place in order:
                wanted = chosen[place]
                for one in wanted if isinstance(wanted, list | tuple) else [wanted] if wanted else []:
                    made = metrics.as_metric(one, targets[place], predictions[place])
                    if several:
                        made.name = f"{names[place]}_{made.name}"
                    self._made.append((place, is_weighted, made))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None, names: list[str] | None = None) -> None:
        """Take a batch."""
        names, predictions = outputs_of(y_pred, names or [])
        targets = CompileLoss._matching(y_true, names, len(predictions))
        if self._made is None:
            self._prepare(targets, names, predictions)
        for place, is_weighted, metric in self._made or []:
            metric.update_state(targets[place], predictions[place], *([sample_weight] if is_weighted else []))

    def result(self) -> dict[str, Any]:
        """The figures so far, by name."""
        return {metric.name: metric.result() for _, _, metric in self._made or []}

    def reset_state(self) -> None:
        """Begin all figures anew."""
        for _, _, metric in self._made or []:
            metric.reset_state()


def class_weights_of(y: Any, class_weight: dict[int, float]) -> Any:
    """The weight of each example by its class; the classes are numbers, or ones in rows."""
    labels = nest.flatten(y)[0].numpy()
    if labels.ndim > 1:
        labels = labels.argmax(-1) if labels.shape[-1] > 1 else labels[..., 0]
    return np.array([class_weight.get(int(label), 1.0) for label in labels.ravel()], np.float32)
