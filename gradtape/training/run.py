"""Run: the state of a training run after its last complete step, how it goes on, and how it is stored.

The state is replaced in one go when a step is complete, generators included. Whatever interrupts a step, the run is
where it was before it; and a run that is stored and taken up again does what it would have done.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradtape.errors import GradTapeError
from gradtape.extend import PathLike, leaves, map_structure, rebuild
from gradtape.nn.module import Module
from gradtape.nn.names import check_names, checked_array
from gradtape.nn.storage import RUN, read, save, unreadable
from gradtape.optim.leaves import named_leaves

FORMAT = "1"
FACTS = {
    "optimiser": "optimiser",
    "examples": "number of examples",
    "batch_size": "batch size",
    "shuffled": "shuffling (by rng=)",
    "seed": "seed",
    "chunks": "division of the rows into chunks",
    "batch_chunks": "number of chunks a step",
}
"""What has to be the same where a run is taken up, and how it is called."""


@dataclass(frozen=True)
class Position:
    """All that decides how a run goes on."""

    params: Any
    buffers: Any
    state: Any
    generators: tuple[Any, ...] = ()
    epoch: int = 0
    batch: int = 0
    order: Any = None
    total: float = 0.0  # the sum of the losses of this epoch's examples so far, and how many they are
    seen: int = 0
    records: Mapping[str, tuple[float, ...]] | None = None
    best: Any = None  # the pair of params and buffers
    best_value: float = float("nan")
    best_epoch: int | None = None
    waited: int = 0
    is_over: bool = False

    def moved(self, **changes: Any) -> Position:
        """The position with some fields changed."""
        return replace(self, **changes)


# -- generators


def generators_of(model: Any, rng: np.random.Generator | None) -> list[np.random.Generator]:
    """The generators that a run draws from, each once: that for shuffling, and those within the model."""
    found = [] if rng is None else [rng]
    if isinstance(model, Module):
        for module in model.modules():
            found += [value for value in vars(module).values() if isinstance(value, np.random.Generator)]
    return list({id(generator): generator for generator in found}.values())


def states_of(generators: list[np.random.Generator]) -> tuple[Any, ...]:
    """The states of generators, for `put_back`."""
    return tuple(generator.bit_generator.state for generator in generators)


def put_back(generators: list[np.random.Generator], states: tuple[Any, ...]) -> None:
    """Give generators the states that `states_of` returned."""
    for generator, state in zip(generators, states, strict=True):
        generator.bit_generator.state = state


def _plain_state(state: Any) -> Any:
    """A generator's state as JSON knows it."""
    if isinstance(state, Mapping):
        return {key: _plain_state(value) for key, value in state.items()}
    if isinstance(state, np.ndarray):
        return {"array": state.tolist(), "dtype": str(state.dtype)}
    return state.item() if isinstance(state, np.generic) else state


def _lively_state(state: Any) -> Any:
    if isinstance(state, dict):
        if set(state) == {"array", "dtype"}:
            return np.array(state["array"], state["dtype"])
        return {key: _lively_state(value) for key, value in state.items()}
    return state


# -- stored


def store(path: PathLike, at: Position, facts: dict[str, Any]) -> None:
    """Write the run to a file. `facts` are what has to be the same where it is taken up."""
    arrays: dict[str, Any] = {"params": at.params, "buffers": at.buffers, "state": at.state}
    if at.order is not None:
        arrays["order"] = at.order
    if at.best is not None:
        arrays["best"] = {"params": at.best[0], "buffers": at.best[1]}
    arrays["records"] = [np.array(values, float) for values in (at.records or {}).values()]
    names = ("epoch", "batch", "total", "seen", "best_value", "best_epoch", "waited", "is_over")
    texts = {
        "format": f"{RUN} {FORMAT}",
        "position": json.dumps({name: getattr(at, name) for name in names}),
        "records": json.dumps(list(at.records or {})),
        "generators": json.dumps([_plain_state(state) for state in at.generators]),
        "facts": json.dumps(facts),
    }
    save(path, map_structure(np.asarray, arrays), texts)


def taken_up(path: PathLike, fresh: Position, facts: dict[str, Any], generators: list[np.random.Generator]) -> Position:
    """The run that a file holds, if it is one of this model, optimiser and data. Nothing is changed."""
    arrays, texts = read(path)
    if texts.get("format") != f"{RUN} {FORMAT}":
        raise unreadable(
            path,
            f"this is not the checkpoint of a run of gt.fit, version {FORMAT}: its format is "
            f"{texts.get('format', 'not given')!r}",
            "the file that was given as checkpoint=; for a model alone, gt.nn.load(path, model)",
        )
    try:
        position, names = json.loads(texts["position"]), json.loads(texts["records"])
        states, stored_facts = json.loads(texts["generators"]), json.loads(texts["facts"])
        _check_facts(path, facts, stored_facts)
        return _checked(path, arrays, position, names, states, fresh, facts, generators)
    except GradTapeError as error:
        if type(error).__name__ == "CheckpointError":
            raise
        reason = f"it is of another run: {error.problem.title.partition(': ')[2]}"
        raise unreadable(path, reason, "the model and optimiser that it was made with") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = " ".join(str(error).split())
        raise unreadable(path, f"its description of the run makes no sense: {reason}", "a file as it was") from None


def _check_facts(path: PathLike, ours: dict[str, Any], theirs: Any) -> None:
    for name, value in ours.items():
        if not isinstance(theirs, dict) or theirs.get(name, value) != value or name not in theirs:
            stored = theirs.get(name) if isinstance(theirs, dict) else None
            raise unreadable(
                path,
                f"it is of another run: its {FACTS[name]} was {stored!r}, and now it is {value!r}",
                f"the same {FACTS[name]}, or resume=False to begin anew",
            )


def _checked(
    path: PathLike,
    arrays: dict[str, Any],
    position: dict[str, Any],
    names: list[str],
    states: list[Any],
    fresh: Position,
    facts: dict[str, Any],
    generators: list[np.random.Generator],
) -> Position:
    like: dict[str, Any] = {"params": fresh.params, "buffers": fresh.buffers, "state": fresh.state}
    if any(name.startswith("best.") for name in arrays):
        like["best"] = {"params": fresh.params, "buffers": fresh.buffers}
    wanted = dict(named_leaves(like))
    rest = {f"records.{number}" for number in range(len(names))} | ({"order"} & set(arrays))
    given = {name: array for name, array in arrays.items() if name not in rest}
    check_names("resume", "the run", "what is stored", wanted, given)
    found = [checked_array("resume", n, given[n], np.shape(x), np.asarray(x).dtype) for n, x in wanted.items()]
    tree = rebuild(like, [x if x.ndim else x[()] for x in found])
    order = arrays.get("order")
    if order is not None and not np.array_equal(np.sort(order), np.arange(facts["examples"] or 0)):
        raise ValueError("its order of the examples is not a permutation of them")
    if len(states) != len(generators):
        raise ValueError(f"it has the states of {len(states)} generators, and there are {len(generators)}")
    lively = tuple(_lively_state(state) for state in states)
    for generator, state in zip(generators, lively, strict=True):
        type(generator.bit_generator)().state = state  # raises if it is not one of such a generator
    counts = {name: int(position[name]) for name in ("epoch", "batch", "seen", "waited")}
    if min(counts.values()) < 0 or not all(isinstance(name, str) for name in names):
        raise ValueError("its counts are negative, or its names are no texts")
    records = {name: tuple(map(float, arrays[f"records.{number}"].ravel())) for number, name in enumerate(names)}
    best_epoch = position["best_epoch"]
    return Position(
        params=tree["params"],
        buffers=tree["buffers"],
        state=tree["state"],
        generators=lively,
        order=order,
        total=float(position["total"]),
        records=records,
        best=(tree["best"]["params"], tree["best"]["buffers"]) if "best" in tree else None,
        best_value=float(position["best_value"]),
        best_epoch=None if best_epoch is None else int(best_epoch),
        is_over=bool(position["is_over"]),
        **counts,
    )


def one_dtype(params: Any) -> Any:
    """The floating point dtype that all parameters have; None if they have several."""
    kinds = {np.asarray(leaf).dtype for leaf in leaves(params)}
    return kinds.pop() if len(kinds) == 1 else None
