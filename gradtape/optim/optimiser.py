"""Optimiser: what all optimisers have in common. Each is a formula for one leaf; here is the rest.

An optimiser is a pure function at heart: `init(params)` makes its state, `update(grads, state, params)` returns the new
parameters and the new state. Both are nested structures of arrays, so a whole training step can be compiled by
`gt.jit`. `step(variables, grads)` does the same to variables, and keeps the state.
"""

from __future__ import annotations

import difflib
import fnmatch
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gradtape.errors import OperandError, StructureError
from gradtape.extend import Lifted, Tensor, Variable, argument_error, leaves, map_structure, plain, rebuild
from gradtape.ops.conversion import stop_gradient
from gradtape.optim.clipping import clip_by_norm, clip_by_value
from gradtape.optim.leaf import Leaf, Options, Slots
from gradtape.optim.leaves import (
    called,
    check_finite,
    check_owners,
    checked_gradients,
    checked_parameters,
    matching,
    named_leaves,
)

Schedule = Callable[[Any], Any]
Group = tuple[str | Callable[[str, Any], bool], Options]


def _holds_parameters(given: Any) -> bool:
    """Whether parameters, or a module that has some, stand where a learning rate is wanted."""
    if hasattr(given, "__next__"):
        return True  # `net.parameters()` of other libraries is a generator
    if isinstance(given, list | tuple):
        return any(isinstance(part, Tensor) or _holds_parameters(part) for part in given)
    return hasattr(given, "parameters") or isinstance(given, dict) or bool(getattr(given, "ndim", 0))


def _is_number(value: Any) -> bool:
    """Whether this is a finite number of at least 0."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and bool(0 <= value < np.inf)


class Optimiser(ABC):
    """The base of all optimisers. A subclass has `_slots` and `_leaf`.

    `learning_rate` is a number, or a schedule: a function of the number of updates that were made. `groups` pairs a
    pattern of leaf names (`"*.bias"`) or a test `(name, leaf) -> bool` with options that these leaves have instead; the
    first that fits counts. `clip_value` and `clip_norm` limit gradients before anything else. `check_finite` refuses
    NaN and infinity in gradients, `allow_none` leaves leaves without a gradient as they are.

    >>> import numpy as np, gradtape as gt
    >>> optimiser = gt.optim.SGD(0.1)
    >>> params = {"w": np.array([1.0, 2.0])}
    >>> state = optimiser.init(params)
    >>> params, state = optimiser.update({"w": np.array([1.0, 0.0])}, state, params)
    >>> params
    {'w': array([0.9, 2. ])}
    """

    _slots: tuple[str, ...] = ()
    """The names of the arrays that are kept for each leaf."""

    _pairs: tuple[str, ...] = ("betas",)
    """The options that are two numbers."""

    _shares: tuple[str, ...] = ()
    """The options that are numbers up to 1."""

    def __init__(
        self,
        learning_rate: float | Schedule,
        options: dict[str, Any],
        *,
        maximize: bool = False,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        groups: Sequence[Group] = (),
        check_finite: bool = True,
        allow_none: bool = False,
        **unknown: Any,
    ) -> None:
        self._set_rate(learning_rate)
        if unknown:
            self._refuse(next(iter(unknown)), options)
        self._check_options(options)
        self.options = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
        self.maximize, self.check_finite, self.allow_none = maximize, check_finite, allow_none
        self.clip_norm = None if clip_norm is None else self._positive("clip_norm", clip_norm)
        self.clip_value = None if clip_value is None else self._positive("clip_value", clip_value)
        self.groups = self._checked_groups(groups)
        self.state: Any = None
        self._owners: list[Variable] = []

    def _refuse(self, name: str, options: Options) -> None:
        common = ("maximize", "clip_norm", "clip_value", "groups", "check_finite", "allow_none")
        accepted = ["learning_rate", *options, *common]
        near = ["learning_rate"] if name == "lr" else difflib.get_close_matches(name, accepted, 1)
        raise argument_error(
            OperandError,
            f"{self.name}: there is no option {name!r}.",
            f"{near[0]}=..." if near else f"one of {', '.join(accepted)}",
        )

    # -- what a subclass writes

    def _fresh(self, name: str, value: Any, options: Options) -> Any:
        """The first value of the slot `name` for a parameter."""
        return np.zeros(value.shape, value.dtype)

    @abstractmethod
    def _leaf(self, leaf: Leaf) -> tuple[Any, Slots]:
        """A new value and new slots."""

    # -- hyperparameters

    @property
    def name(self) -> str:
        """The name of the class, for messages."""
        return type(self).__name__

    @property
    def learning_rate(self) -> Any:
        """The learning rate, or the schedule. Setting a number reaches the state that `step` keeps, too."""
        return float(self._number) if self._schedule is None else self._schedule

    @learning_rate.setter
    def learning_rate(self, value: float | Schedule) -> None:
        self._set_rate(value)
        if self.state is not None and not callable(value):
            self.state["learning_rate"].assign(value)

    def _set_rate(self, given: Any) -> None:
        """Set the learning rate. A number is an array here: compiled functions are not traced again for another one."""
        rate = self._checked_rate(given)
        self._schedule: Schedule | None = rate if callable(rate) else None
        self._number = np.array(np.nan if callable(rate) else rate)

    def _checked_rate(self, rate: Any) -> Any:
        if _holds_parameters(rate):
            raise argument_error(
                OperandError,
                f"{self.name}: the learning rate was expected, and parameters were given.",
                f"gt.optim.{self.name}(1e-3), and later step(variables, grads), or update(grads, state, params)",
            )
        if callable(rate):
            return rate
        if _is_number(rate):
            return float(rate)
        raise argument_error(
            OperandError,
            f"{self.name}: learning_rate={rate!r}.",
            "a finite number of at least 0, or a schedule, such as gt.optim.schedules.cosine(1e-3, 1000)",
        )

    def _positive(self, name: str, value: Any) -> float:
        if isinstance(value, int | float | np.number) and value > 0:
            return float(value)
        raise argument_error(OperandError, f"{self.name}: {name}={value!r}.", "a number above 0")

    def _check_options(self, options: Options) -> None:
        """Raise if one of the numbers is out of its range."""
        for name, value in options.items():
            if name in self._pairs:
                below, accepted = (1.0, "from 0 to below 1") if name == "betas" else (np.inf, "of at least 0")
                fits = isinstance(value, list | tuple) and len(value) == 2
                if not fits or not all(_is_number(part) and part < below for part in value):
                    raise argument_error(OperandError, f"{self.name}: {name}={value!r}.", f"two numbers {accepted}")
            elif name == "learning_rate":
                self._checked_rate(value)
            elif name in self._shares and not (_is_number(value) and value <= 1):
                raise argument_error(OperandError, f"{self.name}: {name}={value!r}.", "a number from 0 to 1")
            elif not isinstance(value, bool) and not _is_number(value):
                raise argument_error(OperandError, f"{self.name}: {name}={value!r}.", "a finite number of at least 0")

    def _checked_groups(self, groups: Any) -> list[Group]:
        found: list[Group] = []
        for group in groups:
            fits = isinstance(group, tuple) and len(group) == 2
            if not fits or not (isinstance(group[0], str) or callable(group[0])) or not isinstance(group[1], Mapping):
                raise argument_error(
                    OperandError,
                    f"{self.name}: a group is {type(group).__name__}; pairs (pattern or test, options) are accepted.",
                    'groups=[("*.bias", {"weight_decay": 0.0})]',
                )
            known = {*self.options, "learning_rate"}
            unknown = [name for name in group[1] if name not in known]
            if unknown:
                raise argument_error(
                    OperandError, f"{self.name}: a group has the option {unknown[0]!r}.", f"one of {sorted(known)}"
                )
            self._check_options(group[1])
            found.append(group)
        return found

    def _anywhere(self, option: str) -> bool:
        """Whether `option` is on for some leaf, so that there has to be a slot for it."""
        return bool(self.options[option] or any(options.get(option) for _, options in self.groups))

    def _options_of(self, path: str, value: Any) -> dict[str, Any]:
        for test, options in self.groups:
            if fnmatch.fnmatchcase(path, test) if isinstance(test, str) else test(path, value):
                return {**self.options, **options}
        return self.options

    # -- functional

    def init(self, params: Any) -> dict[str, Any]:
        """The state for `params`: `count`, `learning_rate`, and for each slot a structure like `params`.

        >>> import numpy as np, gradtape as gt
        >>> state = gt.optim.Adam(0.1).init({"w": np.zeros(2)})
        >>> sorted(state), state["first"]
        (['count', 'first', 'learning_rate', 'second'], {'w': array([0., 0.])})
        """
        named = checked_parameters(params, self.name)
        state: dict[str, Any] = {"count": np.int64(0), "learning_rate": np.float64(self._number)}
        for slot in self._slots:
            fresh = [self._fresh(slot, value, self._options_of(path, value)) for path, value in named]
            state[slot] = rebuild(params, fresh)
        return state

    def update(self, grads: Any, state: Any, params: Any) -> tuple[Any, Any]:
        """New parameters and a new state. Nothing that is given is changed.

        >>> import numpy as np, gradtape as gt
        >>> opt = gt.optim.SGD(0.1)
        >>> params = {"w": np.array([1.0, 2.0])}
        >>> params, state = opt.update({"w": np.ones(2)}, opt.init(params), params)
        >>> params["w"]
        array([0.9, 1.9])
        """
        named = checked_parameters(params, self.name)
        given = matching(grads, params, self.name, "the gradients")
        kept = [number for number, gradient in enumerate(given) if gradient is not None or not self.allow_none]
        chosen = [named[number] for number in kept]
        gradients = checked_gradients(chosen, [given[number] for number in kept], self.name)
        slots = self._slots_of(state, params, named)
        if self.check_finite:
            check_finite(chosen, gradients, self.name)
        if self.maximize:
            gradients = [-gradient for gradient in gradients]
        if self.clip_value is not None:
            gradients = clip_by_value(gradients, self.clip_value)
        if self.clip_norm is not None:
            gradients = clip_by_norm(gradients, self.clip_norm)
        steps = (state["count"] + 1).astype(float)
        new = {**state, "count": state["count"] + 1}
        values = [value for _, value in named]
        for number, gradient in zip(kept, gradients, strict=True):
            path, value = named[number]
            options = self._options_of(path, value)
            rate = self._rate(options.get("learning_rate", self._schedule), state, options)
            mine = {slot: slots[slot][number] for slot in self._slots}
            gradient = gradient if gradient.dtype == value.dtype else gradient.astype(value.dtype)
            changed, mine = self._leaf(Leaf(value, gradient, mine, steps, rate, options))
            values[number] = changed if changed.dtype == value.dtype else changed.astype(value.dtype)
            for slot in self._slots:
                slots[slot][number] = mine[slot]
        for slot in self._slots:
            new[slot] = rebuild(params, slots[slot])
        return rebuild(params, values), new

    def _rate(self, given: Any, state: Any, options: Options) -> Any:
        if callable(given):
            rate = given(state["count"])
            if not isinstance(rate, int | float | np.number | np.ndarray | Tensor):
                raise argument_error(
                    OperandError,
                    f"{self.name}: the schedule returned a {type(rate).__name__}.",
                    "a number for each count of updates",
                )
            return np.float64(1.0) * rate
        return np.float64(given) if "learning_rate" in options else state["learning_rate"]

    def _slots_of(self, state: Any, params: Any, named: list[tuple[str, Any]]) -> dict[str, list[Any]]:
        wanted = {"count", "learning_rate", *self._slots}
        if not isinstance(state, Mapping) or set(state) != wanted:
            what = f"a dictionary with {sorted(state)}" if isinstance(state, Mapping) else f"a {type(state).__name__}"
            raise argument_error(
                StructureError,
                f"{self.name}: the state is {what}; {sorted(wanted)} are wanted.",
                f"state = opt.init(params), of this {self.name}, and what update returned from then on",
            )
        slots = {slot: matching(state[slot], params, self.name, f"the state's {slot!r}") for slot in self._slots}
        for slot, arrays in slots.items():
            for (path, value), array in zip(named, arrays, strict=True):
                if np.shape(array) != value.shape and np.shape(array) != ():
                    raise argument_error(
                        StructureError,
                        f"{self.name}: the state's {slot!r} of {called(path)} has shape {np.shape(array)}, and not "
                        f"{value.shape} as the parameter.",
                        "a state that was made for these parameters: opt.init(params)",
                    )
        return slots

    # -- for variables

    def step(self, variables: Any, grads: Any = None) -> None:
        """Update variables in place by `grads`, which has their structure; their `.grad` unless it is given.

        All variables are updated, or none. The state is kept in `state`, in variables, and made when it is not
        there yet; from then on it belongs to these variables, in this order.

        >>> import gradtape as gt
        >>> w, opt = gt.Variable([1.0, 2.0]), gt.optim.SGD(0.1)
        >>> with gt.GradientTape() as tape:
        ...     loss = (w * w).sum()
        >>> opt.step([w], tape.gradient(loss, [w]))
        >>> w
        Variable([0.8, 1.6])
        """
        targets = self._checked_variables(variables, alone=grads is None)
        if grads is None:
            grads = rebuild(variables, [variable.grad for variable in targets])
            if targets and all(gradient is None for gradient in leaves(grads)):
                raise argument_error(
                    OperandError,
                    f"{self.name}.step: no gradients are given, and none of the variables has a .grad.",
                    "step(variables, tape.gradient(loss, variables)), or loss.backward() before it",
                )
        if self.state is None:
            if any(isinstance(variable, Lifted) for variable in targets):
                raise argument_error(
                    OperandError,
                    f"{self.name}.step: opt.build(variables) has to be called before a step is compiled.",
                    "opt.build(variables) once, where the optimiser is made",
                )
            fresh = self.init(rebuild(variables, [plain(variable) for variable in targets]))
        else:
            check_owners(self._owners, targets, self.name)
            fresh = map_structure(_bare, self.state)
        params = rebuild(variables, [_bare(variable) for variable in targets])
        listed = [_bare(gradient) for gradient in matching(grads, variables, self.name, "the gradients")]
        new, state = self.update(rebuild(variables, listed), fresh, params)
        if self.state is None:
            self.state, self._owners = _as_variables(state), list(targets)
        else:
            for kept, value in zip(leaves(self.state), leaves(state), strict=True):
                kept.assign(value)
        for variable, value in zip(targets, leaves(new), strict=True):
            variable.assign(value)

    def build(self, variables: Any) -> None:
        """Make the state for `variables` now, in variables of its own. A compiled step needs that; others do it alone.

        >>> import numpy as np, gradtape as gt
        >>> w, opt = gt.Variable([1.0, 2.0]), gt.optim.Adam(0.1)
        >>> opt.build([w])
        >>> @gt.jit
        ... def train(x):
        ...     with gt.GradientTape() as tape:
        ...         loss = ((w * x) ** 2).sum()
        ...     opt.step([w], tape.gradient(loss, [w]))
        ...     return loss
        >>> [round(float(train(np.ones(2))), 4) for _ in range(3)], train.stats.traces
        ([5.0, 4.42, 3.8813], 1)
        """
        targets = self._checked_variables(variables)
        self.state = _as_variables(self.init(rebuild(variables, [plain(variable) for variable in targets])))
        self._owners = list(targets)

    def _checked_variables(self, variables: Any, alone: bool = False) -> list[Variable]:
        """The variables; with `alone`, they came without gradients, which may have been given in their place."""
        for path, variable in named_leaves(variables):
            if not isinstance(variable, Variable):
                fix = "update(grads, state, params) for arrays, which returns new ones"
                if isinstance(variable, Tensor):
                    fix = f"gt.Variable(x), which can be changed and has a .grad too; {fix}"
                if alone and isinstance(variable, Tensor | np.ndarray | np.generic):
                    fix = f"step(variables, gradients), if this is a gradient: both are wanted; {fix}"
                raise argument_error(
                    OperandError,
                    f"{self.name}: {called(path)} is a {type(variable).__name__}; gt.Variable is accepted.",
                    fix,
                )
        return leaves(variables)

    def apply_gradients(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Update variables by pairs of (gradient, variable).

        >>> import numpy as np, gradtape as gt
        >>> w, opt = gt.Variable([1.0, 2.0]), gt.optim.SGD(0.1)
        >>> opt.apply_gradients([(np.ones(2), w)])
        >>> w
        Variable([0.9, 1.9])
        """
        listed = list(pairs)
        self.step([variable for _, variable in listed], [gradient for gradient, _ in listed])

    # -- the state, to be stored

    def state_dict(self) -> dict[str, Any]:
        """The state that `step` has kept, as arrays by dotted name.

        >>> import gradtape as gt
        >>> opt = gt.optim.SGD(0.1, momentum=0.9)
        >>> opt.step([gt.Variable(1.0)], [2.0])
        >>> sorted(opt.state_dict())
        ['count', 'learning_rate', 'momentum.0']
        """
        return {} if self.state is None else {path: np.array(plain(x)) for path, x in named_leaves(self.state)}

    def load_state_dict(self, stored: Mapping[str, Any], variables: Any) -> None:
        """Take over a stored state, which has to be one for `variables`. All is checked before anything changes.

        >>> import gradtape as gt
        >>> w, opt = gt.Variable(1.0), gt.optim.SGD(0.1, momentum=0.9)
        >>> opt.step([w], [2.0])
        >>> other = gt.optim.SGD(0.1, momentum=0.9)
        >>> other.load_state_dict(opt.state_dict(), [w])
        >>> other.state["count"]
        Variable(1, dtype=int64)
        """
        targets = self._checked_variables(variables)
        fresh = self.init(rebuild(variables, [plain(v) for v in targets]))
        self.state, self._owners = _as_variables(restored(stored, fresh, self.name)), list(targets)

    def __repr__(self) -> str:
        rate = getattr(self.learning_rate, "__name__", self.learning_rate)
        shown = "".join(f", {name}={value}" for name, value in self.options.items())
        return f"{self.name}(learning_rate={rate}{shown})"


def restored(stored: Mapping[str, Any], like: Any, what: str) -> Any:
    """Arrays by dotted name in the structure of `like`, if names, shapes and kinds are the same."""
    from gradtape.nn.names import check_names, checked_array

    wanted = dict(named_leaves(like))
    check_names(what, "the state", "what is stored", wanted, stored)
    arrays = [checked_array(what, path, stored[path], x.shape, x.dtype) for path, x in wanted.items()]
    return rebuild(like, [array if array.ndim else array[()] for array in arrays])


def _bare(value: Any) -> Any:
    """A value without its place on the tapes: an array, so that the arithmetic is NumPy's; in a trace, a tensor."""
    if isinstance(value, Lifted):
        return stop_gradient(value)
    array = plain(value)
    return array[()] if isinstance(array, np.ndarray) and not array.ndim else array


def _as_variables(state: Any) -> Any:
    return map_structure(lambda value: Variable(value, trainable=False), state)
