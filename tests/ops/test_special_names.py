"""Every public name of `scipy.special` is in `gt.special`: differentiated, passed through, or refused with a reason."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest
import scipy.special

import gradtape as gt
import gradtape.scipy.special
from gradtape.ops import special
from gradtape.ops.special.passed_through import OBJECTS, REASON_OF, scipy_names

NAMES = [name for name in scipy_names() if name != "cython_special"]  # there once that module has been imported


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_scipys_is_here(name: str) -> None:
    """A name of SciPy's is one of the differentiated functions, an object that is none, or one that has a reason."""
    assert getattr(gt.special, name) is not None
    assert name in dir(gt.special)
    assert (name in special.__all__) + (name in OBJECTS.split()) + (name in REASON_OF) == 1


def test_every_reason_is_of_a_function() -> None:
    """No reason and no object is left over from a name that SciPy does not have."""
    newer = {"softplus"}
    assert {*OBJECTS.split(), *REASON_OF} - {*NAMES} - newer == set()


def test_what_is_passed_through_is_scipys() -> None:
    """Numbers, arrays and tensors without gradients give what SciPy gives; objects are SciPy's own."""
    np.testing.assert_array_equal(gt.special.jn_zeros(0, 3), scipy.special.jn_zeros(0, 3))
    np.testing.assert_array_equal(gt.special.roots_legendre(3)[0], scipy.special.roots_legendre(3)[0])
    assert gt.special.ellip_harm(5.0, 8.0, 1, 1, gt.tensor(2.5)) == scipy.special.ellip_harm(5.0, 8.0, 1, 1, 2.5)
    assert gt.special.errstate is scipy.special.errstate
    with pytest.raises(AttributeError, match="neither has scipy"):
        _ = gt.special.nonsense


def test_a_gradient_is_not_lost_in_silence() -> None:
    """A function without a derivative refuses a tensor that has one, and says why."""
    with pytest.raises(gt.UnsupportedError, match="ellip_harm has no derivative"):
        gt.grad(lambda s: gt.special.ellip_harm(5.0, 8.0, 1, 1, s))(gt.tensor(2.5))
    with pytest.raises(gt.UnsupportedError, match="m, which is a whole number"):
        gt.grad(lambda m: gt.special.lpmv(m, 2.0, 0.5))(gt.tensor(1.0))


def test_chapters_are_imported_when_they_are_used() -> None:
    """Neither gt.special nor another namespace imports the chapters that most programs do without."""
    program = (
        "import sys, gradtape as gt, scipy.special\n"
        "gt.special.erf(0.5), gt.nn\n"
        "assert 'gradtape.ops.special.elliptic' not in sys.modules\n"
        "gt.special.ellipk(0.5)\n"
        "assert 'gradtape.ops.special.elliptic' in sys.modules\n"
        "assert 'gradtape.ops.special.noncentral' not in sys.modules\n"
        "assert scipy.special.dawsn(gt.tensor(0.5)).item() == scipy.special.dawsn(0.5)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_polynomial_objects_take_tensors() -> None:
    """SciPy's polynomial of a degree, called on a tensor, is differentiated."""
    slope = gt.grad(lambda x: gt.special.legendre(3)(x))(gt.tensor(0.5))
    assert slope.item() == pytest.approx(0.375)


def test_operations_have_the_signature_of_the_ufunc_that_they_stand_for() -> None:
    """As `inspect.signature` shows it, for kernels of SciPy's and for those of gradtape's own."""
    for name in ("kv", "bei", "betainc", "xlogy"):
        operation, ufunc = getattr(gradtape.scipy.special, name), getattr(scipy.special, name)
        try:
            expected = inspect.signature(ufunc)
        except ValueError:  # before NumPy 2.4
            continue
        assert inspect.signature(operation) == expected
