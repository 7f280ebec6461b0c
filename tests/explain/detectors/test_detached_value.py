"""Numbers that left the tape inside a function, or as elements, and came back as constants."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt

LENGTHS = [0.1, 0.4, 0.9]


def listed(k: Any) -> Any:
    energies = np.array([float(0.5 * k * x**2) for x in LENGTHS])
    return energies.sum()


def filled(k: Any) -> Any:
    found = np.empty(3)
    for i in range(3):
        found[i] = k * LENGTHS[i]
    return found


def logged(k: Any) -> Any:
    history = np.empty(1)
    history[0] = k * 0.7
    return np.full(3, 0.25)


def _reported(loss: Any) -> list[Any]:
    problems: list[Any] = []
    with gt.explain.configure(GT210="note"), gt.explain.listening(problems.append):
        gt.grad(loss)(0.8131)
    return [problem for problem in problems if problem.code == "GT210"]


def test_elements_of_a_list_inside_a_function() -> None:
    """What `float()` made inside of a function is followed to its result, and the fix builds a tensor of the list."""
    (problem,) = _reported(lambda k: np.sum(listed(k)) * k)
    assert problem.fixes[0] == "gt.array([0.5 * k * x**2 for x in LENGTHS])"
    assert "np.array([float(" in problem.main.source


def test_elements_of_an_array_inside_a_function() -> None:
    """So are the elements of an array that a function has filled."""
    (problem,) = _reported(lambda k: np.sum(filled(k)) * k)
    assert problem.main.text == "found[i]"


def test_what_does_not_come_back_is_not_blamed() -> None:
    """A function that writes a value down and returns another one is not said to return it."""
    assert _reported(lambda k: np.sum(logged(k)) * k) == []


def test_an_array_of_the_same_name_in_another_function_is_not_blamed() -> None:
    """Names are compared with those of the same function."""

    def other(k: Any) -> Any:
        found = np.empty(1)
        found[0] = k
        return found

    def uses_constant(k: Any) -> Any:
        other(k)
        found = np.full(3, 0.3)
        return found * 2.0

    assert _reported(lambda k: np.sum(uses_constant(k)) * k) == []


def test_a_list_inside_a_mean() -> None:
    """NumPy's mean takes no list of tensors: the fix makes one tensor of them."""
    w = gt.Variable([0.123456789, 0.987654321])
    problems: list[Any] = []
    with gt.GradientTape() as tape:
        losses = [np.sum(w * x) for x in LENGTHS]
        total = np.mean([float(loss) for loss in losses]) + np.sum(w**2)
    with gt.explain.configure(GT210="note"), gt.explain.listening(problems.append):
        tape.gradient(total, w)
    assert problems[0].fixes[0] == "gt.array([loss for loss in losses])"


class Spring:
    """A property and an attribute that let a value out."""

    def __init__(self, rest: Any) -> None:
        self.rest = rest
        self.length = float(rest)

    @property
    def plain(self) -> float:
        return float(self.rest)

    def of_property(self, k: Any) -> Any:
        return (k - self.plain) ** 2

    def of_attribute(self, k: Any) -> Any:
        return (k - self.length) ** 2


def appended(k: Any) -> Any:
    values: list[float] = []
    for x in LENGTHS:
        values.append(float(k * x))  # noqa: PERF401
    return sum(values) / len(values)


def test_a_property_and_an_attribute_are_followed() -> None:
    """What `float()` let out inside a property, or into an attribute, is found where that is read."""
    (problem,) = _reported(lambda k: Spring(1.0 * k).of_property(3.0 * k))
    assert problem.main.text == "float(self.rest)"
    (problem,) = _reported(lambda k: Spring(1.0 * k).of_attribute(3.0 * k))
    assert problem.main.text == "float(rest)"


def test_a_list_that_was_appended_to_is_followed() -> None:
    """So is what was put into a list, and the mean of that list."""
    (problem,) = _reported(lambda k: k * appended(k))
    assert str(problem.fixes[0]) == "(k * x)"


def test_a_function_of_math_by_its_own_name_is_not_left_out() -> None:
    """`sqrt(x)` of `from math import sqrt` is NumPy's sqrt of x, not x."""
    from math import sqrt

    (problem,) = _reported(lambda k: k * sqrt(k * 1.7))
    assert str(problem.fixes[0]) == "np.sqrt(k * 1.7)"


class Delay:
    """A buffer that keeps its numbers in an attribute."""

    def __init__(self) -> None:
        self.held = np.zeros(2)
        self.seen = np.zeros(1)

    def push(self, value: Any) -> None:
        self.held[0] = value
        self.seen[0] = value

    def latest_first(self) -> Any:
        return np.roll(self.held, 1)[::-1]


def fill_in(k: Any, out: Any) -> None:
    out[0] = 2.0 * k


def weigh(numbers: Any, k: Any) -> Any:
    return numbers * k


def _reported_at_a_round_number(loss: Any) -> list[Any]:
    """The problems where no number has digits by which it could be known again."""
    problems: list[Any] = []
    with gt.explain.configure(GT210="note"), gt.explain.listening(problems.append):
        gt.grad(loss)(0.5)
    return [problem.main.text for problem in problems if problem.code == "GT210"]


def test_an_element_of_an_attribute_is_followed() -> None:
    """An array that is an attribute is the same array where a method returns it; another attribute is not."""

    def loss(k: Any) -> Any:
        delay = Delay()
        delay.push(k)
        return np.sum(delay.latest_first() * k)

    assert _reported_at_a_round_number(loss) == ["self.held[0]"]


def test_an_argument_that_was_written_into_is_followed() -> None:
    """A function that writes into its argument has written into the array of its caller."""

    def loss(k: Any) -> Any:
        numbers, others = np.zeros(2), np.ones(2)
        fill_in(k, numbers)
        return np.sum(numbers + k) + np.sum(others + k)

    assert _reported_at_a_round_number(loss) == ["out[0]"]


def test_an_array_that_is_passed_on_is_followed() -> None:
    """An operand that is an argument is what every call passes for it."""

    def loss(k: Any) -> Any:
        table = {"a": np.zeros(2), "b": np.ones(2)}
        table["a"][1] = k
        return np.sum(weigh(table["a"], k))

    assert _reported_at_a_round_number(loss) == ['table["a"][1]']


def test_another_entry_of_a_dictionary_is_not_blamed() -> None:
    """Entries are compared by their keys."""

    def loss(k: Any) -> Any:
        table = {"a": np.zeros(2), "b": np.ones(2)}
        table["a"][1] = k
        return np.sum(table["b"] * k)

    assert _reported_at_a_round_number(loss) == []


def test_what_is_assigned_in_a_tuple_is_followed() -> None:
    """`y[0], y[1] = a, b` assigns each value to one target."""

    def loss(k: Any) -> Any:
        numbers = np.zeros(2)
        numbers[0] = k
        y = np.outer(np.ones(2), [1.0, 2.0]) * k
        y[0], y[1] = numbers, 2.0 * k
        return np.sum(y)

    assert _reported_at_a_round_number(loss) == ["numbers[0]"]


OURS = "import gradtape.numpy as np"


def _mend(source: str, fix: Any) -> dict[str, Any]:
    """What the source of a program defines with the edit `fix`."""
    span = fix.replaces
    lines = source.splitlines()
    lines[span.line - 1] = lines[span.line - 1][: span.column] + fix + lines[span.line - 1][span.end_column :]
    mended: dict[str, Any] = {}
    exec("\n".join(lines), mended)
    return mended


class TestWrittenIntoAnArray:
    @pytest.mark.parametrize(
        ("statement", "name", "fixes"),
        [
            ("d = np.zeros(3)\n    d[:2] += x", "d", ["d = gt.zeros(3)", OURS, "d = gt.at(d)[:2].add(x)"]),
            ("d = np.ones(3) * 1\n    d[1:] -= x + 1", "d", [OURS, "d = gt.at(d)[1:].add(-(x + 1))"]),
            ("d = np.ones(2) * 1\n    d[:] *= x", "d", [OURS, "d = gt.at(d)[:].multiply(x)"]),
            ("d = np.ones(2) * 1\n    d[:] /= x", "d", [OURS, "d = gt.at(d)[:].multiply(1.0 / x)"]),
            ("d = np.zeros(2)\n    d -= x + 1", "d", ["d = d - (x + 1)"]),
            ("d = np.zeros(2)\n    np.multiply(x, 3.0, out=d)", "d", ["d = np.multiply(x, 3.0)"]),
            ("d = np.ones(3) * 1\n    np.add.at(d, [0, 0], x)", "d", [OURS, "d = gt.at(d)[[0, 0]].add(x)"]),
        ],
    )  # fmt: skip
    def test_the_fix_names_the_array_and_works(
        self, statement: str, name: str, fixes: list[str], tmp_path: Path
    ) -> None:
        """Each edit that is offered, made in the program, gives a gradient that a difference quotient confirms."""
        source = f"import numpy as np\nimport gradtape as gt\ndef f(x):\n    {statement}\n    return np.sum(d**2)\n"
        file = tmp_path / "program.py"
        file.write_text(source)
        namespace: dict[str, Any] = {}
        exec(compile(source, str(file), "exec"), namespace)
        with pytest.raises(gt.DetachError) as caught:
            gt.grad(namespace["f"])(np.array([1.0, 2.0]))
        problem = caught.value.problem
        assert f"written into {name}, a plain array" in problem.title
        assert list(problem.fixes) == fixes
        for fix in problem.fixes:
            gt.gradcheck(_mend(source, fix)["f"], np.array([1.0, 2.0]))

    @pytest.mark.parametrize("made", ["np.r_[x, 0.5]", "np.full(3, x[0])", "np.array(x)"])
    def test_the_import_that_is_changed_is_that_of_the_name(self, made: str, tmp_path: Path) -> None:
        """Of two imports of NumPy, the one by whose name the array is made; with the edit, there is a gradient."""
        source = f"import numpy\nimport numpy as np\ndef f(x):\n    return numpy.sum({made} ** 3)\n"
        file = tmp_path / "program.py"
        file.write_text(source)
        namespace: dict[str, Any] = {}
        exec(compile(source, str(file), "exec"), namespace)
        with pytest.raises(gt.DetachError) as caught:
            gt.grad(namespace["f"])(np.array([1.0, 2.0]))
        (edit,) = [fix for fix in caught.value.problem.fixes if fix == OURS]
        gt.gradcheck(_mend(source, edit)["f"], np.array([1.0, 2.0]))


class TestFilesWithoutGradtape:
    """A model of NumPy and SciPy alone, in a file of its own, is differentiated by another file."""

    @pytest.mark.parametrize(
        "body",
        [
            "parts = [x[0], x[1] * 2.0]\n    return np.std(parts)",
            "return np.std([v * v for v in x])",
            "return np.sum(np.convolve(table, [1.0, -x[0]]) * x[1])",
            "return np.polynomial.chebyshev.chebval(0.3, x)",
            "return np.sum(np.vectorize(lambda v: v * v)(x))",
            "d = table.copy()\n    d[1:] += x\n    return np.sum(d**2)",
            "d = 2.0 * table\n    d[1:] = x\n    return np.sum(d**2)",
            "d = np.zeros(3)\n    d[1:] += x\n    return np.sum(d**2)",
            "d = np.zeros((2, 2))\n    row = d[0]\n    row += x\n    return np.sum(d**2)",
            "d = np.zeros((2, 2))\n    row = d[0]\n    row[:] = x\n    return np.sum(d**2)",
            "d = np.zeros((2, 2))\n    rows = {'u': d[0]}\n    rows['u'] += x\n    return np.sum(d**2)",
            "d = np.zeros((2, 2))\n    row = d[0]\n    np.add(x, 1.0, out=row)\n    return np.sum(d**2)",
            "d = np.zeros((2, 2))\n    row = d[0]\n    np.add.at(row, [0, 0], x)\n    return np.sum(d**2)",
            "d = np.zeros(3)\n    np.cumsum(x, out=d[1:])\n    return np.sum(d**2)",
            "a, b = map(np.array, ((x[0], 2.0), (3.0, x[1])))\n    return np.sum(a * b**2)",
        ],
    )
    def test_the_first_fix_is_the_import(self, body: str, tmp_path: Path) -> None:
        """Names that the file does not have are not offered; with the import there is a gradient."""
        source = f"import numpy as np\ntable = np.array([1.0, 2.0, 3.0])\ndef f(x):\n    {body}\n"
        file = tmp_path / "model.py"
        file.write_text(source)
        namespace: dict[str, Any] = {}
        exec(compile(source, str(file), "exec"), namespace)
        with pytest.raises(gt.DetachError) as caught:
            gt.grad(namespace["f"])(np.array([1.0, 2.0]))
        fixes = caught.value.problem.fixes
        assert fixes[0] == OURS
        assert not [fix for fix in fixes if fix.startswith(("np.at", "np.array")) or " np.at(" in fix]
        gt.gradcheck(_mend(source, fixes[0])["f"], np.array([1.0, 2.0]))

    def test_an_edit_that_needs_gradtape_says_so(self, tmp_path: Path) -> None:
        """The statement with `gt.at` names the import that it needs."""
        source = "import numpy as np\ndef f(x):\n    d = np.zeros(3)\n    d[1:] += x\n    return np.sum(d**2)\n"
        file = tmp_path / "model.py"
        file.write_text(source)
        namespace: dict[str, Any] = {}
        exec(compile(source, str(file), "exec"), namespace)
        with pytest.raises(gt.DetachError) as caught:
            gt.grad(namespace["f"])(np.array([1.0, 2.0]))
        assert "d = gt.at(d)[1:].add(x)  # import gradtape as gt" in caught.value.problem.fixes

    @pytest.mark.parametrize(
        "body",
        [
            "d[1:] += x",
            "d += 2.0 * x[0]",
            "d[1:] = x",
            "np.moveaxis(d, 0, 0)[1:] = x",
            "np.add(x, 1.0, out=d[1:])",
        ],
    )
    def test_an_argument_is_to_be_made_by_our_numpy(self, body: str, tmp_path: Path) -> None:
        """Another array by the name of an argument would leave that of the caller as it was: the import is advised."""
        source = "import numpy as np\ndef g(d, x):\n    " + body
        source += "\ndef f(x):\n    d = np.zeros(3)\n    g(d, x)\n    return np.sum(d**2)\n"
        file = tmp_path / "program.py"
        file.write_text(source)
        namespace: dict[str, Any] = {}
        exec(compile(source, str(file), "exec"), namespace)
        with pytest.raises(gt.DetachError) as caught:
            gt.grad(namespace["f"])(np.array([1.0, 2.0]))
        assert caught.value.problem.fixes[0].startswith(OURS)
        mended: dict[str, Any] = {}
        exec(source.replace("import numpy as np", OURS), mended)
        gt.gradcheck(mended["f"], np.array([1.0, 2.0]))


@pytest.mark.parametrize(
    ("bound", "read"),
    [
        ('state = {"u": np.ones(2)}; u = state["u"]', 'state["u"]'),
        ("state = [np.ones(2), 1]; u, _ = state[0], state[1]", "state[0]"),
        ("box.u = np.ones(2); u = box.u", "box.u"),
        ("v = np.ones(2); u = v", "v"),
    ],
)
def test_the_fix_of_a_write_reaches_all_names_of_the_array(bound: str, read: str, tmp_path: Path) -> None:
    """The fix does not bind the name to another array, which would leave the other name with the old numbers."""
    source = f"import numpy as np\nclass box: pass\ndef f(x):\n    {bound}\n    u += x\n    return np.sum({read}**2)\n"
    file = tmp_path / "program.py"
    file.write_text(source)
    namespace: dict[str, Any] = {}
    exec(compile(source, str(file), "exec"), namespace)
    with pytest.raises(gt.DetachError) as caught:
        gt.grad(namespace["f"])(np.array([1.0, 2.0]))
    (fix,) = caught.value.problem.fixes
    assert fix.startswith(OURS)
    mended: dict[str, Any] = {}
    exec(source.replace("import numpy as np", OURS), mended)
    gt.gradcheck(mended["f"], np.array([1.0, 2.0]))


def test_an_error_inside_of_minimize_is_not_replaced() -> None:
    """SciPy replaces a TypeError of the objective by one that says nothing of tensors."""
    from scipy.optimize import minimize

    def loss(x: Any) -> Any:
        return np.sum(minimize(lambda z: np.sum((z - x) ** 2), np.zeros(2)).x)

    with pytest.raises(gt.GradTapeError, match=r"scipy\.optimize\.minimize takes bare arrays"):
        gt.grad(loss)(np.array([1.0, 2.0]))


@pytest.mark.parametrize(
    ("read", "fix"),
    [
        ("np.sum(x * x).item()", "np.sum(x * x)"),
        ("(x[None, :] @ x[:, None]).item()", "(x[None, :] @ x[:, None]).squeeze()"),
        ("(x * x).item(0)", None),
        ("sum((x * x).tolist())", None),
    ],
)
@pytest.mark.parametrize("namespace", ["numpy", "gradtape.numpy"])
def test_reading_a_number_is_meant_only_outside_of_code_for_numpy(
    read: str, fix: str | None, namespace: str, tmp_path: Path
) -> None:
    """With `import gradtape.numpy`, code is NumPy code: a number read by `.item()` that comes back is reported."""
    import gradtape.numpy as own

    file = tmp_path / "program.py"
    source = f"import {namespace} as np\ndef f(x):\n    return np.sum(np.sin(x)) + {read}\n"
    file.write_text(source)
    program: dict[str, Any] = {}
    exec(compile(source, str(file), "exec"), program)
    x = own.array([0.31, 0.72])
    problems: list[Any] = []
    with gt.explain.configure(GT210="note"), gt.explain.listening(problems.append):
        gt.grad(program["f"])(x)
    assert [problem.code for problem in problems] == (["GT210"] if namespace == "gradtape.numpy" else [])
    if problems and fix is not None:
        assert problems[0].fixes[0] == fix
        gt.gradcheck(_mend(source, problems[0].fixes[0])["f"], x)
