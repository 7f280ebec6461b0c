"""docs/coverage.md: which functions of NumPy and scipy.special are differentiated, found out by differentiating them.

`python tests/test_coverage_page.py` (or `make outputs`) writes the page. The calls and the reasons why some
functions have no derivative are in coverage_samples.py.
"""

from __future__ import annotations

import functools
import importlib
import re
import textwrap
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy
from coverage_samples import AUTOGRAD, BY_NATURE, CALLS
from numpy.testing import overrides
from scipy import special

import gradtape as gt

PAGE = Path(__file__).parent.parent / "docs" / "coverage.md"

POINT = {
    "x": np.array([[2.0, 0.31, 0.52], [0.43, 1.54, 0.25], [0.16, 0.67, 1.88]]),
    "v": np.array([0.71, 1.32, 0.43]),
    "u": np.array([0.54, 0.95, 1.16]),
}
DIRECTION = {
    "x": np.array([[0.3, -0.8, 0.6], [1.1, -0.5, 0.7], [-0.9, 0.4, 0.2]]),
    "v": np.array([0.6, -0.7, 0.9]),
    "u": np.array([-0.4, 0.8, 0.5]),
}

DIFFERENTIABLE, CONSTANT, MISSING = "differentiable", "constant", "not supported"
WORDS = next(reason for reason in BY_NATURE if reason.startswith("Words"))


# -- the functions there are


def ufunc_name(ufunc: np.ufunc) -> str | None:
    """The public name of a NumPy ufunc, or of the function on words that it does the work of; None if it has none."""
    name = ufunc.__name__.lstrip("_")
    if getattr(np, name, None) is ufunc:
        return f"np.{name}"
    return f"np.strings.{name}" if hasattr(np.strings, name) else None


def default_call(name: str, count: int) -> str:
    return f"{name}({', '.join(['v', 'u', 'v + u', 'u / 2', 'v / 2'][:count])})"


def finite_call(name: str, count: int) -> str:
    """A call at numbers where the function is finite, the first of some that are tried."""
    names = ["v", "u", "v", "u", "v"][:count]
    calls = [default_call(name, count)]
    calls += [f"{name}({', '.join(form.format(n) for n in names)})" for form in ("{} / 3", "-{}", "1 + {}", "2 * {}")]
    calls.append(f"{name}({', '.join(['2', *names[1:]])})")
    return next((call for call in calls if is_finite(call)), calls[0])


def is_finite(call: str) -> bool:
    """Whether all numbers that a call gives for arrays are finite."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return all(bool(np.isfinite(part).all()) for part in run(call, POINT))
        except TypeError:  # whole numbers are wanted
            return False


WITHDRAWN = {"np.in1d"}  # deprecated, and gone from NumPy 2.4


def numpy_functions() -> dict[str, str]:
    """Every function of NumPy that can be given a tensor, with a call of it."""
    found = {}
    for ufunc in overrides.get_overridable_numpy_ufuncs():
        name = ufunc_name(ufunc)
        if name is not None:
            found[name] = CALLS.get(name, default_call(name, ufunc.nin))
    importlib.import_module("numpy.polynomial")  # otherwise it depends on who else has imported it whether it is there
    functions = overrides.get_overridable_numpy_array_functions()
    functions = [f for f in functions if f.__module__.split(".")[0] == "numpy"]  # not those that gradtape.numpy made
    names = [f"{f.__module__}.{f.__name__}" for f in functions if f.__module__ not in ("numpy.char", "numpy.strings")]
    names += [f"numpy.fft.{name}" for name in np.fft.__all__]
    names += [f"numpy.linalg.{name}" for name in np.linalg.__all__ if name != "LinAlgError"]
    names = [full.replace("numpy", "np", 1).replace("lib._scimath_impl", "lib.scimath") for full in names]  # NumPy 2.1
    for name in [name for name in names if name not in WITHDRAWN]:
        found.setdefault(name, CALLS.get(name, f"{name.replace('lib.scimath', 'emath')}(x)"))
    return dict(sorted(found.items()))


NUMPY = numpy_functions()
NEWER = {"np.polynomial.polynomial.polyvalnd"}  # NumPy 2.5
REASON = {name: reason for reason, names in BY_NATURE.items() for name in names.split()}
REASON |= {name: WORDS for name in NUMPY if name.startswith("np.strings.")}


def special_functions() -> dict[str, str]:
    """The ufuncs of scipy.special, and those of its other functions that gradtape has, with a call of each."""
    found = {}
    for short in sorted({name for name in special.__all__ if isinstance(getattr(special, name), np.ufunc)}):
        name = f"scipy.special.{short}"
        found[name] = CALLS.get(name) or finite_call(f"special.{short}", getattr(special, short).nin)
    for short in gt.special.__all__:
        found.setdefault(f"scipy.special.{short}", CALLS.get(f"scipy.special.{short}", f"gt.special.{short}(v)"))
    return dict(sorted(found.items()))


# -- what they do


@dataclass
class Finding:
    """What came of calling a function on tensors."""

    status: str
    why: str = ""


def run(call: str, values: dict[str, Any]) -> list[Any]:
    """The arrays and tensors that a call gives."""
    *statements, expression = [part.strip() for part in call.split("; ")]
    names: dict[str, Any] = {"np": np, "gt": gt, "special": special, **values}
    exec("\n".join(statements), names)
    result = eval(expression, names)
    return list(result) if isinstance(result, list | tuple) else [result]


def is_moving(part: Any) -> bool:
    return isinstance(part, gt.Tensor) and part.is_tracked and part.dtype.kind in "fc"


def weights_of(part: Any) -> Any:
    return np.cos(1.0 + np.arange(np.size(part))).reshape(np.shape(part))


def as_numbers(part: Any) -> Any:
    """A result as real numbers."""
    return np.real(part) + np.imag(part) if np.iscomplexobj(part) else np.asarray(part, float)


def total(parts: list[Any], chosen: list[int]) -> float:
    return float(sum(np.sum(weights_of(parts[i]) * as_numbers(parts[i])) for i in chosen))


def moved(step: float) -> dict[str, Any]:
    return {name: value + step * DIRECTION[name] for name, value in POINT.items()}


@functools.cache
def finding(name: str, call: str) -> Finding:
    """Whether a function has a derivative: its call on tensors, differentiated, against finite differences."""
    if name.startswith(("np.strings.", "np.lib.recfunctions.")):
        return Finding(MISSING, "never given numbers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with gt.GradientTape() as tape:
                sources = {key: tape.watch(value) for key, value in POINT.items()}
                parts = run(call, sources)
                chosen = [i for i, part in enumerate(parts) if is_moving(part)]
                if not chosen:
                    return Finding(CONSTANT)
                loss = sum(
                    (weights_of(parts[i]) * (np.real(parts[i]) + np.imag(parts[i]))).sum()
                    if parts[i].dtype.kind == "c"
                    else (weights_of(parts[i]) * parts[i]).sum()
                    for i in chosen
                )
            gradients = tape.gradient(loss, list(sources.values()), unconnected_gradients="zero")
        except gt.GradTapeError as error:
            return Finding(MISSING, re.sub(r"^\[\w+\] ", "", str(error).splitlines()[0]).rstrip("."))
        slope = sum(float(np.sum(g.numpy() * DIRECTION[key])) for key, g in zip(sources, gradients, strict=True))
        plain = call.replace("gt.special.", "special.")
        step = 1e-6
        ahead, behind = (total(run(plain, moved(sign * step)), chosen) for sign in (1, -1))
    expected = (ahead - behind) / (2 * step)
    assert np.isfinite(slope), f"{name}: {call} has the slope {slope}"
    assert abs(slope - expected) <= 1e-5 * max(1.0, abs(expected)), f"{name}: {call} gives {slope}, not {expected}"
    return Finding(DIFFERENTIABLE)


@functools.cache
def survey() -> SimpleNamespace:
    """All findings."""
    everything = {**NUMPY, **special_functions()}
    return SimpleNamespace(calls=everything, found={name: finding(name, call) for name, call in everything.items()})


def having_a_derivative(prefix: str) -> list[str]:
    return [name for name in survey().found if name.startswith(prefix) and name not in REASON]


def supported(names: list[str]) -> list[str]:
    return [name for name in names if survey().found[name].status == DIFFERENTIABLE]


# -- the page


INTRODUCTION = """
# What is differentiated

Every function of NumPy that can be given a tensor, and every ufunc of `scipy.special`. This page is written by
`make outputs`, which makes the calls that are listed, differentiates them and compares with finite differences.
It was written with NumPy {numpy} and SciPy {scipy}.
"""
VERSIONS = {"numpy": np.__version__, "scipy": scipy.__version__}

METHODS = """
The methods of ufuncs (`np.add.reduce`, `.accumulate`, `.reduceat`, `.outer`, `.at`), the keywords `out`, `where`,
`dtype`, `casting`, `axis`, `keepdims` and `initial`, and `like=` of the functions that make arrays are taken as well.
`scipy.special`'s ufuncs are called as they are; its other functions are in `gt.special`, because SciPy does not ask
tensors about them.
"""

SECTIONS = {
    "Ufuncs and functions": ("np.", ("np.linalg.", "np.fft.", "np.lib.", "np.polynomial.")),
    "numpy.lib": ("np.lib.", ()),
    "numpy.polynomial": ("np.polynomial.", ()),
    "numpy.linalg": ("np.linalg.", ()),
    "numpy.fft": ("np.fft.", ()),
    "scipy.special": ("scipy.special.", ()),
}


# -- the names of gradtape.scipy

NAMES = """
`gradtape.numpy` has every public name of NumPy, and `gradtape.scipy` every public name of the sub-packages below. A
call without tensors is NumPy's or SciPy's own. With tensors, functions that are differentiated are so by every argument
that is continuous; functions that are refused take tensors as long as their gradient is not recorded, and name the
reason otherwise; functions whose results change in steps only are called with the numbers of tensors; classes,
constants, exceptions and modules are passed through as they are.
"""

MIRRORED = (
    *("constants", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "signal.windows"),
    *("sparse", "sparse.linalg", "spatial", "spatial.distance", "stats"),
)
"""The sub-packages whose modules say what they differentiate (`original.functions`) and refuse (`REASONS`)."""


@dataclass
class Names:
    """What becomes of the public names of a sub-package of SciPy."""

    differentiated: list[str]
    in_steps: list[str]
    refused: dict[str, list[str]]
    passed_through: list[str]

    @property
    def row(self) -> str:
        refused = sum(map(len, self.refused.values()))
        counted = (len(self.differentiated), len(self.in_steps), refused, len(self.passed_through))
        return f" {sum(counted)} | " + " | ".join(map(str, counted)) + " |"


def names_of(path: str) -> Names:
    """What becomes of the public names of one of the sub-packages."""
    ours, theirs = importlib.import_module(f"gradtape.scipy.{path}"), importlib.import_module(f"scipy.{path}")
    public = [name for name in dir(theirs) if not name.startswith("_") and name != "test"]
    differentiated = [name for name in public if name in ours.original.functions]
    refused = {reason: [name for name in public if name in names.split()] for reason, names in ours.REASONS.items()}
    constant = getattr(ours, "PIECEWISE_CONSTANT", "").split()
    in_steps = [name for name in public if name in constant]
    known = {*differentiated, *in_steps, *(name for names in refused.values() for name in names)}
    return Names(differentiated, in_steps, refused, [name for name in public if name not in known])


def names_of_scipy() -> list[str]:
    """The part of the page on gradtape.scipy: a table of numbers, then the names."""
    found = {path: names_of(path) for path in MIRRORED}
    columns = ("sub-package", "public names", "differentiated", "changing in steps", "refused", "passed through")
    head = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"
    parts = ["## Names of gradtape.scipy", NAMES.strip()]
    parts.append(head + "\n".join(f"| `scipy.{path}` |{names.row}" for path, names in found.items()))
    for path, names in found.items():
        parts.append(f"### scipy.{path}")
        refused = {f"Refused, as it {reason}": listed for reason, listed in names.refused.items()}
        kinds = {"Differentiated": names.differentiated, "Changing in steps": names.in_steps, **refused}
        for title, listed in kinds.items():
            if listed:
                parts.append(wrapped(f"{title}: {', '.join(f'`{name}`' for name in listed)}."))
    return parts


def share(part: list[str], whole: list[str]) -> str:
    return f"{len(part)} of {len(whole)} ({100 * len(part) / len(whole):.1f} %)"


def counts() -> str:
    rows = {
        "NumPy's functions that have a derivative": having_a_derivative("np."),
        "those that autograd 1.9.1 has a rule for": AUTOGRAD.split(),
        "`scipy.special`'s functions that have a derivative": having_a_derivative("scipy.special."),
    }
    lines = [f"| {what} | {share(supported(names), names)} |" for what, names in rows.items()]
    return "\n".join(["| of | differentiated |", "|---|---|", *lines])


def wrapped(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def page() -> str:
    """The text of docs/coverage.md."""
    calls, found = survey().calls, survey().found
    parts = [INTRODUCTION.strip().format(**VERSIONS), counts(), METHODS.strip(), "## Differentiated"]
    for title, (prefix, other) in SECTIONS.items():
        names = [n for n in found if n.startswith(prefix) and not n.startswith(other or "-")]
        rows = [f"| `{n}` | `{shown(calls[n])}` |" for n in supported(names)]
        if rows:
            parts.append("\n".join([f"### {title}\n", "| function | as called |", "|---|---|", *rows]))
    parts.append("## No derivative by nature")
    for reason in BY_NATURE:
        listed = [name for name in found if REASON.get(name) == reason]
        for status, verdict in ((CONSTANT, "taken; the result is a constant"), (MISSING, "refused")):
            chosen = [f"`{name}`" for name in listed if found[name].status == status]
            if chosen:
                parts.append(wrapped(f"{reason} ({verdict}): {', '.join(chosen)}."))
    parts.append("## Not supported")
    missing = [n for n in found if n not in REASON and found[n].status != DIFFERENTIABLE]
    parts.append(
        wrapped(
            "These have a derivative and no rule here. They are refused at the call, and never lose a gradient in "
            "silence; `gt.custom_vjp` gives one a rule."
        )
    )
    reasons: dict[str, list[str]] = {}
    for name in missing:
        reasons.setdefault(found[name].why.replace(name, "it"), []).append(f"`{name}`")
    parts += [wrapped(f"{why[0].upper() + why[1:]}: {', '.join(names)}.") for why, names in reasons.items()]
    parts += names_of_scipy()
    return "\n\n".join(parts) + "\n"


def shown(call: str) -> str:
    return call.replace("|", "\\|")


# -- tests


def test_the_page_is_current() -> None:
    """docs/coverage.md says what the functions do now; `make outputs` writes it.

    With other versions of NumPy and SciPy there are other functions: then those that are on the page have to be right.
    """
    text = PAGE.read_text()
    if INTRODUCTION.strip().format(**VERSIONS) in text:
        assert text == page()
    claimed = re.findall(r"^\| `(\S+)` \|", text, re.MULTILINE)
    assert len(claimed) > 300
    assert [name for name in claimed if name in survey().found and name not in supported(list(survey().found))] == []


def test_nearly_all_of_numpy_is_differentiated() -> None:
    """At least 95 % of NumPy's functions that have a derivative are differentiated."""
    names = having_a_derivative("np.")
    assert len(supported(names)) >= 0.95 * len(names)


def test_all_that_autograd_differentiates_is_differentiated() -> None:
    """Whoever comes from autograd misses nothing."""
    names = [name for name in AUTOGRAD.split() if name in survey().found]
    assert set(names) - set(supported(names)) == set()


def test_what_has_no_derivative_by_nature_has_none() -> None:
    """No function is excused from having a derivative that it has."""
    found = survey().found
    assert [name for name in REASON if name in found and found[name].status == DIFFERENTIABLE] == []


def test_reasons_and_calls_are_of_functions_that_exist() -> None:
    """No reason and no call is left over from a function that NumPy does not have.

    Older versions lack some, or do not ask tensors about them: these are on the page, which newer ones were asked for.
    """
    known = {*survey().calls, *NEWER}
    text = PAGE.read_text()
    if INTRODUCTION.strip().format(**VERSIONS) not in text:
        known |= set(re.findall(r"`((?:np|scipy)\.[\w.]+)`", text))
    assert [name for name in [*REASON, *CALLS, *AUTOGRAD.split()] if name not in known] == []


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # by NumPy 2.5, for arrays
@pytest.mark.parametrize("name", [name for name in REASON if name in NUMPY or name.startswith("scipy.")])
def test_functions_without_a_derivative_give_what_numpy_gives(name: str) -> None:
    """A function whose result is a constant gives the value that it gives for arrays."""
    found = survey().found[name]
    if found.status == MISSING:
        assert found.why
        return
    call = survey().calls[name]
    for ours, theirs in zip(run(call, {k: gt.tensor(a) for k, a in POINT.items()}), run(call, POINT), strict=True):
        if isinstance(ours, gt.Tensor | np.ndarray):
            np.testing.assert_array_equal(np.asarray(ours), theirs)
        else:
            assert ours == theirs


if __name__ == "__main__":
    PAGE.write_text(page())
    print(counts())
