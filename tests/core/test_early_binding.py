"""bind_early: a function that runs again later reads the values of the moment when it was bound."""

from __future__ import annotations

import functools
import types
from typing import Any

from gradtape.core.early_binding import FUNCTIONS_AT_MOST, bind_early

SETTING = 1.0
CALLS = 0


def module_name() -> float:
    return SETTING


def through_another() -> float:
    return 10.0 * module_name()


def test_a_name_of_the_enclosing_function_is_bound() -> None:
    """What is assigned afterwards is not seen, by functions that it calls neither."""
    k = 1

    def inner() -> int:
        return k

    def outer(x: int, *, y: int = 5) -> int:
        """Its documentation."""
        return inner() + 10 * k + 100 * x + 1000 * y

    early = bind_early(outer)
    k = 2
    assert early(1, y=3) == 3111
    assert outer(1, y=3) == 3122
    assert (early.__name__, early.__doc__, early.__qualname__) == (outer.__name__, outer.__doc__, outer.__qualname__)
    assert early.__kwdefaults__ == {"y": 5}
    assert early.__code__ is outer.__code__


def test_a_name_of_the_module_is_bound(monkeypatch: Any) -> None:
    """Loops of scripts assign names of the module."""
    early, deeper = bind_early(module_name), bind_early(through_another)
    monkeypatch.setitem(globals(), "SETTING", 2.0)
    assert (early(), module_name()) == (1.0, 2.0)
    assert (deeper(), through_another()) == (10.0, 20.0)


def test_a_function_that_calls_itself() -> None:
    """The copy calls the copy."""
    k = 1

    def factorial(n: int) -> int:
        return k if n <= 1 else n * factorial(n - 1)

    early = bind_early(factorial)
    k = 7
    assert (early(4), factorial(4)) == (24, 168)


def test_names_that_are_assigned_to_stay_shared() -> None:
    """Counters and caches of the user's count on; a function beside them sees what was assigned."""
    count = 0

    def increase() -> None:
        nonlocal count
        count += 1

    def counted() -> int:
        increase()
        return count

    assert [bind_early(counted)(), bind_early(counted)()] == [1, 2]
    assert count == 2

    def counts_calls() -> int:
        global CALLS
        CALLS += 1
        return CALLS

    before = CALLS
    assert bind_early(counts_calls)() == before + 1 == CALLS


def test_names_without_a_value_are_looked_up_later() -> None:
    """A name that has no value yet is not bound."""

    def reads() -> int:
        return later  # type: ignore[has-type,no-any-return]

    early = bind_early(reads)
    later = 3
    assert early() == 3


def test_what_cannot_change_is_not_copied() -> None:
    """Functions of definitions only are themselves; so are objects that are called, and methods."""

    def helper() -> int:
        return len("ab")

    def plain() -> int:
        return helper()

    class Callable:
        def __call__(self) -> int:
            return 1

        def method(self) -> int:
            return 2

    instance = Callable()
    method = instance.method
    assert bind_early(plain) is plain
    assert bind_early(instance) is instance
    assert bind_early(method) is method
    assert bind_early(len) is len


def test_partial_functions() -> None:
    """The function inside is bound, and the arguments are kept."""
    k = 1

    def scaled(x: int, y: int) -> int:
        return k * x + y

    def applied(function: Any, x: int, second: Any) -> Any:
        return function(x, 0) + second(x, 0)

    partial, nested = functools.partial(scaled, 10, y=5), functools.partial(applied, scaled, 10, second=scaled)
    early, nested_early = bind_early(partial), bind_early(nested)
    unchanged = functools.partial(max, 1)
    assert bind_early(unchanged) is unchanged
    k = 2
    assert (early(), partial()) == (15, 25)
    assert (nested_early(), nested()) == (20, 40)


def test_functions_that_look_names_up_by_other_means() -> None:
    """`globals()` and `eval` see the module itself."""
    module = types.ModuleType("made")
    exec("A = 1\ndef reads():\n    return globals()['A'] + eval('A')\n", module.__dict__)
    early = bind_early(module.reads)
    module.A = 5  # type: ignore[attr-defined]
    assert early() == 10


def test_attributes_are_kept() -> None:
    """What was set on the function is on the copy."""
    k = 1

    def tagged() -> int:
        return k

    tagged.tag = "here"  # type: ignore[attr-defined]
    assert bind_early(tagged).tag == "here"  # type: ignore[attr-defined]


def test_long_chains_of_functions_are_bound_up_to_a_limit() -> None:
    """Beyond it, functions read their names when they run; all are called rightly."""
    k = 1

    def first() -> int:
        return k

    function: Any = first
    for _ in range(2 * FUNCTIONS_AT_MOST):
        function = (lambda inner: lambda: inner() + 0 * k)(function)
    assert bind_early(function)() == 1
