"""What `scipy.special` has and gradtape has no derivative of: the same functions, for numbers and arrays.

A tensor that no tape watches is taken as the array that it holds. One with a gradient is refused with a reason, so that
no gradient is lost in silence.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from gradtape.core.location import Location
from gradtape.core.tensor import Tensor, is_tracked
from gradtape.errors import UnsupportedError

OBJECTS = """
    SpecialFunctionError SpecialFunctionWarning add_newdocs basic errstate geterr orthogonal seterr sf_error specfun
    spfun_stats test
"""
"""Names that are no functions of numbers."""

REASONS = {
    "is a function of whole numbers, which have no gradient": """
        ai_zeros bei_zeros beip_zeros ber_zeros bernoulli berp_zeros bi_zeros c_roots chebyc chebys chebyt chebyu
        erf_zeros euler fresnel_zeros fresnelc_zeros fresnels_zeros h_roots he_roots hermite hermitenorm jn_zeros
        jnjnp_zeros jnp_zeros jnyn_zeros kei_zeros keip_zeros kelvin_zeros ker_zeros kerp_zeros l_roots laguerre
        legendre p_roots ps_roots roots_chebyc roots_chebys roots_chebyt roots_chebyu roots_hermite roots_hermitenorm
        roots_laguerre roots_legendre roots_sh_chebyt roots_sh_chebyu roots_sh_legendre s_roots sh_chebyt sh_chebyu
        sh_legendre stirling2 t_roots ts_roots u_roots us_roots y0_zeros y1_zeros y1p_zeros yn_zeros ynp_zeros
    """,
    "finds nodes and coefficients of polynomials, which have no derivative by a parameter here": """
        cg_roots gegenbauer genlaguerre j_roots jacobi js_roots la_roots roots_gegenbauer roots_genlaguerre roots_jacobi
        roots_sh_jacobi sh_jacobi
    """,
    "has no derivative in gradtape: there is no formula for it in functions that SciPy has": """
        ellip_harm ellip_harm_2 ellip_normal
    """,
    "has no derivative in gradtape: its values in SciPy and their slopes do not agree": """
        obl_rad2 obl_rad2_cv pro_rad2 pro_rad2_cv
    """,
    "has no derivative in gradtape for an eigenvalue that is given; the function without _cv at its end has one": """
        obl_rad1_cv pro_rad1_cv
    """,
    "gives whole tables of Legendre functions of the second kind, which have no derivative in gradtape": "lqmn lqn",
    "has no derivative in gradtape: it is of the noncentral F distribution": """
        ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc
    """,
    "finds the eigenvalues or the Fourier coefficients of a differential equation, all at once": """
        mathieu_even_coef mathieu_odd_coef obl_cv_seq pro_cv_seq
    """,
}
"""Functions without a derivative, by the reason."""

REASON_OF = {name: reason for reason, names in REASONS.items() for name in names.split()}


def scipy_names() -> list[str]:
    """The public names of `scipy.special`."""
    return [name for name in dir(importlib.import_module("scipy.special")) if not name.startswith("_")]


def passed_through(name: str) -> Any:
    """SciPy's object of that name; a function is one that takes tensors without a gradient too."""
    module = importlib.import_module("scipy.special")
    found = getattr(module, name, None)
    if found is None:
        raise AttributeError(f"gradtape.special has no name {name!r}, and neither has scipy.special")
    return found if name in OBJECTS.split() or not callable(found) else _for_arrays(name, found)


def _for_arrays(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy's function, which refuses a tensor with a gradient."""
    reason = REASON_OF.get(name, "has no gradient rule in gradtape")

    def plain(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        if is_tracked(x):
            raise UnsupportedError(
                f"special.{name} {reason}.\n{Location.here().show()}\n"
                f"  fix: special.{name}(x.numpy()) if no gradient is wanted; gt.custom_vjp to give it a rule"
            )
        return x.numpy()

    @functools.wraps(function, assigned=("__name__", "__doc__"), updated=())
    def for_arrays(*args: Any, **kwargs: Any) -> Any:
        return function(*map(plain, args), **{key: plain(value) for key, value in kwargs.items()})

    return for_arrays
