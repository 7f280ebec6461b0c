"""`gradtape.scipy.fft`: SciPy's names and values, with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft as theirs
from mirror_checks import check_against_scipy, check_every_name, check_under_vmap_and_jit, refuses

import gradtape as gt
from gradtape.scipy import fft

GENERATOR = np.random.default_rng(11)


def draw(*shape: int) -> Any:
    return GENERATOR.normal(size=shape)


def complex_draw(*shape: int) -> Any:
    return draw(*shape) + 1j * draw(*shape)


def check(name: str, *args: Any, **kwargs: Any) -> None:
    def scipys(*values: Any) -> Any:
        return getattr(theirs, name)(
            *[v.item() if isinstance(v, np.ndarray) and not v.ndim else v for v in values], **kwargs
        )

    check_against_scipy(lambda *a: getattr(fft, name)(*a, **kwargs), scipys, *args)


def test_every_name_of_scipys_is_here() -> None:
    """Each public name is differentiated, or refused with a reason."""
    check_every_name(fft, theirs, "", "test prev_fast_len")


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_fourier_transforms(norm: str) -> None:
    """Transforms of one, two and several axes, in every norm, cut and filled up."""
    for name in ("fft", "ifft", "irfft", "hfft"):
        check(name, complex_draw(2, 5), n=4, norm=norm)
    for name in ("rfft", "ihfft"):
        check(name, draw(4, 2), n=5, axis=0, norm=norm)
    for name in ("fftn", "ifftn", "irfftn", "hfftn"):
        check(name, complex_draw(2, 3), s=(3,), norm=norm)
    for name in ("rfftn", "ihfftn"):
        check(name, draw(2, 3), axes=(1, 0), norm=norm)
    for name in ("fft2", "ifft2", "irfft2", "hfft2", "rfft2", "ihfft2"):
        check(name, draw(2, 3), norm=norm)


@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
def test_cosine_and_sine_transforms(name: str, type: int) -> None:
    """Every type, norm and orthogonalisation, cut and filled up."""
    for norm in (None, "ortho", "forward"):
        check(name, draw(2, 4), type=type, norm=norm)
        check(name, draw(4, 2), type=type, norm=norm, orthogonalize=norm is None, axis=0, n=5)
    check(f"{name}n", draw(3, 4), type=type, norm="ortho")
    check(f"{name}n", draw(3, 4), type=type, s=(3,))
    check(name, complex_draw(3), type=type)


def test_hankel_transforms_are_differentiated_by_all_arguments() -> None:
    """The values, the step, the order, the offset and the bias."""
    parameters = [np.array(v) for v in (0.3, 0.7, 0.2, 0.1)]
    for name in ("fht", "ifht"):
        for length in (5, 6):
            check(name, draw(2, length), *parameters)
        check(name, draw(4), dln=0.3, mu=0.5)


def test_frequencies() -> None:
    """Frequencies are differentiated by the distance of the samples, and shifts by what they move."""
    check("fftfreq", 5, np.array(0.5))
    check("rfftfreq", 5, np.array(0.5))
    check("fftshift", draw(3, 4))
    check("ifftshift", draw(3, 4), axes=1)


@pytest.mark.parametrize("name", ["rfft", "dct", "next_fast_len", "fftshift"])
def test_functions_of_one_name_are_compiled(name: str) -> None:
    """Functions that were imported by name: what SciPy dispatches them with does not keep jit from compiling."""
    function = getattr(fft, name)
    compiled = gt.jit(lambda x: np.abs(function(x.size if name == "next_fast_len" else x) * x[0]).sum())
    x = np.arange(1.0, 6.0)
    wanted = np.abs(np.asarray(getattr(theirs, name)(5 if name == "next_fast_len" else x)) * x[0]).sum()
    np.testing.assert_allclose(compiled(x), wanted)
    assert compiled.stats.uncompiled == 0


def test_transforms_under_vmap_and_jit() -> None:
    """Batches are transformed at once; compiled code agrees."""
    check_under_vmap_and_jit(lambda x: fft.dct(x, norm="ortho"), draw(2, 5))
    check_under_vmap_and_jit(lambda x: fft.dstn(x, 3), draw(2, 3, 4))
    check_under_vmap_and_jit(lambda x: np.abs(fft.rfft2(x)), draw(2, 3, 4))


def test_wrong_arguments_and_reasons() -> None:
    """Errors name what is accepted."""
    assert "type=5; accepted are 1, 2, 3, 4" in refuses(fft.dct, draw(3), type=5)
    assert "at least 2" in refuses(fft.dct, draw(1), type=1)
    assert "real numbers" in refuses(fft.rfft, complex_draw(3))
    assert fft.next_fast_len(7) == theirs.next_fast_len(7)
    assert fft.dct(gt.tensor(draw(3).astype(np.float32))).dtype == np.float32
