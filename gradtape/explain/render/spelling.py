"""Rewrites advice with the function names of the library that the user's file imports.

Texts are written with the names of NumPy and gradtape (`np.sum`, `gt.softmax`). In a file that imports TensorFlow they
become `tf.reduce_sum`, in one that imports PyTorch `torch.softmax`; where NumPy is imported as `xp`, `xp.sum`. A
function that the library does not have stays as it is.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Mapping
from typing import Any

from gradtape.standins_package import find_library

_STANDINS = {"torch": "torch", "tensorflow": "tf"}  # library -> its usual name in a file
_CANDIDATES = {
    "torch": ("{}", "linalg.{}", "nn.functional.{}", "special.{}"),
    "tensorflow": ("{}", "math.{}", "nn.{}", "reduce_{}", "linalg.{}"),
}
_MODULES_OF_JAX = ("jax.numpy", "jax.nn", "jax.lax", "jax.scipy.special")
_EXCEPTIONS = {
    "torch": {
        "concatenate": "cat",
        "power": "pow",
        "jacobian": "func.jacrev",
        "gradients": "autograd.grad",
        "check_numerics": "autograd.detect_anomaly",
        "take_along_axis": "take_along_dim",
        "expand_dims": "unsqueeze",
        "Variable": "nn.Parameter",
        "custom_vjp": "autograd.Function",
        "grad": "func.grad",
        "jvp": "func.jvp",
        "vjp": "func.vjp",
        "array": "tensor",
    },
    "tensorflow": {
        "concatenate": "concat",
        "power": "pow",
        "clip": "clip_by_value",
        "arctan2": "math.atan2",
        "logsumexp": "reduce_logsumexp",
        "tensor": "constant",
        "isfinite": "math.is_finite",
        "check_numerics": "debugging.enable_check_numerics",
        "broadcast_to": "broadcast_to",
        "custom_vjp": "custom_gradient",
        "take": "gather",
        "diagonal": "linalg.diag_part",
        "array": "constant",
    },
}
_PHRASES: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    "torch": (
        (re.compile(r"gt\.stop_gradient\((\w+)\)"), r"\1.detach()"),
        (re.compile(r"gt\.stop_gradient\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)"), r"(\1).detach()"),
        (re.compile(r"gt\.stop_gradient\b"), ".detach()"),
        (re.compile(r"gt\.at\((\w+)\)\[(\w+)\]\.set\((\w+)\)"), r"\1.index_put((\2,), \3)"),
        (re.compile(r"\bscipy\.special\.xlogy\b"), "torch.xlogy"),
        (re.compile(r"\bnp\.newaxis\b"), "None"),
        (re.compile(r"\.astype\(float\)"), ".float()"),
        (re.compile(r"\.astype\(int\)"), ".long()"),
        (re.compile(r"\.astype\("), ".to("),
        (re.compile(r"\.copy\(\)"), ".clone()"),
        (re.compile(r"\bkeepdims=True"), "keepdim=True"),
        (re.compile(r"\baxis=(?=-?\d)"), "dim="),
    ),
    "tensorflow": (
        (re.compile(r"\b(\w+)\.astype\(float\)"), r"tf.cast(\1, tf.float32)"),
        (re.compile(r"\b(\w+)\.astype\(int\)"), r"tf.cast(\1, tf.int32)"),
        (re.compile(r"\b(\w+)\.copy\(\)"), r"tf.identity(\1)"),
        (re.compile(r"\b(\w+) = (\w+)\.watch\(\1\)"), r"\2.watch(\1)"),  # which returns None there
        (re.compile(r"gt\.tensor\((\w+), requires_grad=True\)"), r"tf.Variable(\1)"),
        (re.compile(r"gt\.at\((\w+)\)\[(\w+)\]\.set\((\w+)\)"), r"tf.tensor_scatter_nd_update(\1, [[\2]], [\3])"),
        (re.compile(r"\bgt\.no_grad\(\)"), "tape.stop_recording()"),
        (re.compile(r"\bgt\.take_along_axis\b(?!\()"), "tf.gather(..., batch_dims=1)"),
        (re.compile(r"\bscipy\.special\.xlogy\b"), "tf.math.xlogy"),
        (re.compile(r"\bnp\.newaxis\b"), "tf.newaxis"),
        (re.compile(r"\bnp\.inf\b"), 'float("inf")'),
    ),
}
_PHRASES["jax"] = (
    (re.compile(r"np\.linalg\.norm has a slope of zero at zero; (.*) a finite one"), r"\1 has a finite slope"),
    (re.compile(r"\bgt\.at\((\w+)\)\[(\w+)\]\.set\((\w+)\)"), r"\1.at[\2].set(\3)"),
    (re.compile(r"\bgt\.take_along_axis\b"), "np.take_along_axis"),
    (re.compile(r"\bscipy\.special\."), "jax.scipy.special."),
    (re.compile(r"leaky_relu and gelu of gt\.nn\.functional"), "jax.nn.leaky_relu and jax.nn.gelu"),
    (re.compile(r"\bgt\.nn\.init, or rng\.normal\(size=\.\.\.\)"), "jax.random.normal(key, shape)"),
    (re.compile(r"with gt\.check_numerics\(\): around it stops"), 'jax.config.update("jax_debug_nans", True) stops'),
    (re.compile(r"\bgt\.random\.gumbel_softmax\b"), "a softmax of logits and jax.random.gumbel"),
    (re.compile(r", with gt\.stats' logpmf"), ""),
)
_EDITS = {
    ".T": "transpose({})",
    ".swapaxes(-1, -2)": "linalg.matrix_transpose({})",
    ".squeeze()": "squeeze({})",
}
_NAME = re.compile(r"(?<![\w.\[/])(gt|np)\.((?:[a-z]\w*\.)*\w+)")


def library_of(imports: Mapping[str, str]) -> tuple[str, str]:
    """The library that a file computes with, of PyTorch, TensorFlow and JAX, and the name it has in the file.

    For JAX it is the name of `jax.numpy`.

    >>> library_of({"np": "numpy", "F": "torch.nn.functional", "t": "torch"}), library_of({"np": "numpy"})
    (('torch', 't'), ('', ''))
    """
    for library, usual in _STANDINS.items():
        whole = (library, f"gradtape_standins.{library}")
        bound = next((name for name, module in imports.items() if module in whole), "")
        if bound or any(module.startswith(tuple(f"{name}." for name in whole)) for module in imports.values()):
            return library, bound or usual
    numpy = next((name for name, module in imports.items() if module == "jax.numpy"), "")
    if numpy or any(module.partition(".")[0] == "jax" for module in imports.values()):
        return "jax", numpy or "jax.numpy"
    return "", ""


@functools.lru_cache(maxsize=512)
def name_in(library: str, name: str) -> str:
    """The name in `library` of a function of NumPy or gradtape; empty if it has none.

    >>> name_in("tensorflow", "sum"), name_in("torch", "log_softmax")
    ('reduce_sum', 'log_softmax')
    """
    module = find_library(library)
    other = _EXCEPTIONS[library].get(name)
    for candidate in [other] if other else [way.format(name) for way in _CANDIDATES[library]]:
        if candidate and _has(module, candidate):
            return candidate
    return ""


def _name_in_jax(name: str) -> str:
    """The full name of a function in JAX: that in `jax.numpy` first."""
    found = [module for module in _MODULES_OF_JAX if hasattr(sys.modules.get(module), name)]
    return f"{found[0]}.{name}" if found else ""


def written_in(library: str, bound: str, name: str) -> str:
    """How a file writes a function of NumPy or gradtape that has the name `bound` for `library`; empty if it cannot.

    >>> written_in("torch", "t", "sum")
    't.sum'
    """
    if library == "jax":
        found = _name_in_jax(name)
        return f"{bound}.{name}" if found == f"jax.numpy.{name}" else found
    found = name_in(library, name)
    return f"{bound}.{found}" if found else ""


def _has(module: Any, path: str) -> bool:
    for part in path.split("."):
        module = getattr(module, part, None)
    return module is not None


def respell(text: str, imports: Mapping[str, str]) -> str:
    """`text` with the names and idioms of the library that a file with these imports computes with.

    >>> respell("np.sum(x) or gt.stop_gradient(x)", {"torch": "torch"})
    'torch.sum(x) or x.detach()'
    >>> respell("np.where(ok, x, 1.0)", {"xp": "numpy"})
    'xp.where(ok, x, 1.0)'
    >>> respell("np.where(ok, x, 1.0)", {"onp": "numpy", "np": "autograd.numpy"})
    'np.where(ok, x, 1.0)'
    """
    library, bound = library_of(imports)
    if not library:
        return _NAME.sub(lambda match: f"{_name_of_module(imports, match[1])}.{match[2]}", text)
    for pattern, phrase in _PHRASES[library]:
        usual = _STANDINS.get(library, "")
        text = pattern.sub(phrase.replace(f"{usual}.", f"{bound}.") if usual else phrase, text)

    def name(match: re.Match[str]) -> str:
        return written_in(library, bound, match[2]) or match[0]

    return _NAME.sub(name, text)


def _name_of_module(imports: Mapping[str, str], usual: str) -> str:
    """The name of NumPy (`np`) or gradtape (`gt`) in a file."""
    whole = {"np": "numpy", "gt": "gradtape"}[usual]
    names = [name for name, module in imports.items() if module == whole and not name.startswith("*")]
    return usual if not names or usual in imports else names[0]


def edit_in(suffix: str, imports: Mapping[str, str]) -> str:
    """An edit of an operand, such as `.T`, as this file would write it; with {} for the operand if it is a call."""
    library, bound = library_of(imports)
    if library == "tensorflow" and suffix in _EDITS:
        return f"{bound}.{_EDITS[suffix]}"
    if library == "tensorflow" and (shape := re.fullmatch(r"\.reshape\((.*)\)", suffix)):
        return f"{bound}.reshape({{}}, {shape[1]})"
    return suffix
