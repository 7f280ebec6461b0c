"""Linear systems in time: their discretisation and their responses.

A system is given as SciPy takes it: (num, den), (zeros, poles, gain) or (A, B, C, D), with the step behind them if time
is discrete, or as an object of SciPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.ops.eigen import eigvals
from gradtape.ops.elementwise import where
from gradtape.ops.matrix_functions import expm
from gradtape.ops.numerics import interp as interpolate
from gradtape.scipy.arraylike import as_array, as_floating, as_vector, is_tensor, one_of, refusal, surely
from gradtape.scipy.signal.filter_forms import matrices, ss2tf, ss2zpk, tf2ss, zpk2ss
from gradtape.scipy.signal.mirrored import original
from gradtape.scipy.signal.responses import freqs, freqs_zpk, freqz, freqz_zpk


def _state_space(name: str, system: Any) -> tuple[Any, Any, Any, Any]:
    """The matrices of a system without its step."""
    theirs = original.contents
    if isinstance(system, theirs.lti | theirs.dlti):
        plain = system.to_ss()
        return plain.A, plain.B, plain.C, plain.D
    if len(system) == 2:
        return matrices(name, *tf2ss(*system))
    if len(system) == 3:
        return matrices(name, *zpk2ss(*system))
    if len(system) == 4:
        return matrices(name, *system)
    raise refusal(f"{name}: a system of {len(system)} parts; 2, 3 or 4 are accepted.", "(num, den) or (A, B, C, D)")


@original.differentiated
def cont2discrete(system: Any, dt: Any, method: str = "zoh", alpha: Any = None) -> Any:
    """A continuous system at steps of `dt`; differentiated by the system, `dt` and `alpha`.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import cont2discrete
    >>> a, b, c, d, dt = cont2discrete(([[-1.0]], [[1.0]], [[1.0]], [[0.0]]), gt.tensor(0.5))
    >>> a.round(6)
    Tensor([[0.606531]])
    """
    methods = {"bilinear": 0.5, "tustin": 0.5, "euler": 0.0, "forward_diff": 0.0, "backward_diff": 1.0}
    one_of("cont2discrete: method", method, ("zoh", "gbt", "foh", "impulse", *methods))
    theirs = original.contents
    if not isinstance(system, theirs.lti) and len(system) in (2, 3):
        found = cont2discrete(_state_space("cont2discrete", system), dt, method, alpha)
        return (*(ss2tf if len(system) == 2 else ss2zpk)(*found[:4]), dt)
    a, b, c, d = _state_space("cont2discrete", system)
    states, inputs = a.shape[0], b.shape[1]
    if method in methods:
        method, alpha = "gbt", methods[method]
    if method == "gbt":
        if alpha is None or surely(alpha < 0) or surely(alpha > 1):
            raise refusal("cont2discrete: method='gbt' and alpha is None or not within 0 and 1.", "alpha=0.5")
        implicit = np.eye(states) - alpha * dt * a
        transition = np.linalg.solve(implicit, np.eye(states) + (1.0 - alpha) * dt * a)
        driven = np.linalg.solve(implicit, dt * b)
        return transition, driven, np.linalg.solve(implicit.T, c.T).T, d + alpha * np.matmul(c, driven), dt
    if method == "impulse":
        if surely(np.any(np.abs(d) > 1e-8)):
            raise refusal("cont2discrete: method='impulse' and D is not 0.", "a system with D=0")
        transition = expm(a * dt)
        return transition, np.matmul(transition, b) * dt, c, np.matmul(c, b) * dt, dt
    if method == "zoh":
        whole = expm(_stacked([[a * dt, b * dt]], states + inputs))
        return whole[:states, :states], whole[:states, states:], c, d, dt
    whole = expm(_first_order_hold(a, b, dt))
    transition, constant, ramp = (
        whole[:states, start:stop]
        for start, stop in ((0, states), (states, states + inputs), (states + inputs, states + 2 * inputs))
    )
    return transition, constant - ramp + np.matmul(transition, ramp), c, d + np.matmul(c, ramp), dt


def _stacked(rows: Any, size: int) -> Any:
    """A square matrix with these rows of blocks, filled up with zeros below."""
    blocks = [np.concatenate([as_array(block) for block in row], axis=1) for row in rows]
    height = sum(block.shape[0] for block in blocks)
    return np.concatenate([*blocks, np.zeros((size - height, size))])


def _first_order_hold(a: Any, b: Any, dt: Any) -> Any:
    """The matrix whose exponential has the responses to a constant and to a ramp beside the transition."""
    states, inputs = b.shape
    below = [np.zeros((inputs, states + inputs)), np.eye(inputs)]
    return _stacked([[a * dt, b * dt, np.zeros((states, inputs))], below], states + 2 * inputs)


# -- responses in continuous time


@original.differentiated
def lsim(system: Any, U: Any, T: Any, X0: Any = None, interp: bool = True) -> tuple[Any, Any, Any]:
    """Times, outputs and states of a continuous system driven by `U` at the evenly spaced times `T`.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.signal import lsim
    >>> t, y, x = lsim(([1.0], [1.0, gt.tensor(2.0)]), np.ones(3), np.array([0.0, 0.5, 1.0]))
    >>> y.round(6)
    Tensor([0.      , 0.31606 , 0.432332])
    """
    a, b, c, d = _state_space("lsim", system)
    times = as_vector(T, "lsim: T")
    states, inputs, steps = a.shape[0], b.shape[1], times.shape[0]
    state = np.zeros(states) if X0 is None else as_floating(X0).reshape((states,))
    if surely(times[0] < 0):
        raise refusal("lsim: T[0] is negative.", "times from 0 on")
    if is_tensor(times) or times[0] != 0:
        state = np.matmul(expm(a * times[0]), state)
    drive = None
    if U is not None and not (isinstance(U, int | float) and U == 0):
        drive = as_floating(U)
        drive = drive.reshape((-1, 1)) if drive.ndim < 2 else drive
        if drive.shape != (steps, inputs):
            raise refusal(
                f"lsim: U has shape {drive.shape}; ({steps}, {inputs}) is accepted.",
                "one row for each time",
                ShapeError,
            )
    if steps == 1:
        found = [state]
    else:
        dt = times[1] - times[0]
        if surely(np.any(np.abs(np.diff(times) - dt) > 1e-8 + 1e-5 * np.abs(dt))):
            raise refusal("lsim: T is not evenly spaced.", "np.linspace(start, stop, count)")
        whole = expm(_first_order_hold(a, b, dt))
        transition, ramp = whole[:states, :states], whole[:states, states + inputs :]
        constant = whole[:states, states : states + inputs]
        found = [state]
        for i in range(1, steps):
            state = np.matmul(transition, state)
            if drive is not None and interp:
                state = state + np.matmul(constant - ramp, drive[i - 1]) + np.matmul(ramp, drive[i])
            elif drive is not None:
                state = state + np.matmul(constant, drive[i - 1])
            found.append(state)
    path = np.stack(found)
    out = np.matmul(path, c.T)
    if drive is not None:
        out = out + np.matmul(drive, d.T)
    return T if is_tensor(T) else times, np.squeeze(out), np.squeeze(path)


def _response_times(a: Any, T: Any, N: int | None) -> Any:
    """The given times, or 7 times the slowest time constant, which moves with the system."""
    if T is not None:
        return as_vector(T, "T")
    slowest = np.min(np.abs(np.real(eigvals(a + 0j))))
    return np.linspace(0.0, 7.0, 100 if N is None else N) / where(slowest == 0, 1.0, slowest)


@original.differentiated
def impulse(system: Any, X0: Any = None, T: Any = None, N: int | None = None) -> tuple[Any, Any]:
    """Times, and the response of a continuous system to an impulse."""
    a, b, c, d = _state_space("impulse", system)
    times = _response_times(a, T, N)
    start = b if X0 is None else b + as_floating(X0).reshape((-1, 1))
    return times, lsim((a, b, c, d), 0.0, times, np.squeeze(start), interp=False)[1]


@original.differentiated
def step(system: Any, X0: Any = None, T: Any = None, N: int | None = None) -> tuple[Any, Any]:
    """Times, and the response of a continuous system to a step."""
    a, b, c, d = _state_space("step", system)
    times = _response_times(a, T, N)
    return times, lsim((a, b, c, d), np.ones(times.shape[0]), times, X0, interp=False)[1]


# -- responses in discrete time


def _discrete(name: str, system: Any) -> tuple[tuple[Any, Any, Any, Any], Any, bool]:
    """The matrices, the step, and whether the system was given by its matrices."""
    theirs = original.contents
    if isinstance(system, theirs.dlti):
        return _state_space(name, system), system.dt, isinstance(system, theirs.StateSpace)
    if isinstance(system, theirs.lti):
        raise refusal(f"{name}: a continuous system.", "cont2discrete(system, dt)")
    return _state_space(name, tuple(system[:-1])), system[-1], len(system) == 5


@original.differentiated
def dlsim(system: Any, u: Any, t: Any = None, x0: Any = None) -> Any:
    """Times, outputs (and states, if the system is given by its matrices) of a discrete system driven by `u`."""
    (a, b, c, d), dt, is_state_space = _discrete("dlsim", system)
    drive = as_floating(u)
    drive = drive.reshape((-1, 1)) if drive.ndim < 2 else drive
    if t is None:
        steps = drive.shape[0]
        stop = (steps - 1) * dt
        times = np.linspace(0.0, 1.0, steps) * stop
    else:
        given = as_vector(t, "dlsim: t")
        stop = given[-1]
        steps = int(np.floor(stop / dt)) + 1
        times = np.linspace(0.0, 1.0, steps) * stop
        drive = np.stack([interpolate(times, given, drive[:, k]) for k in range(drive.shape[1])], axis=1)
    state = np.zeros(a.shape[0]) if x0 is None else as_floating(x0).reshape((a.shape[0],))
    found = [state]
    for i in range(steps - 1):
        state = np.matmul(a, state) + np.matmul(b, drive[i])
        found.append(state)
    path = np.stack(found)
    out = np.matmul(path, c.T) + np.matmul(drive, d.T)
    return (times, out, path) if is_state_space else (times, out)


def _to_each_input(
    name: str, system: Any, x0: Any, t: Any, n: int | None, is_step: bool
) -> tuple[Any, tuple[Any, ...]]:
    found, dt, _ = _discrete(name, system)
    count = 100 if n is None else n
    times = np.arange(count) * dt if t is None else as_vector(t, f"{name}: t")
    outputs = []
    for k in range(found[1].shape[1]):
        u = np.zeros((times.shape[0], found[1].shape[1]))
        u[slice(None) if is_step else 0, k] = 1.0
        moments, out, _ = dlsim((*found, dt), u, times, x0)
        outputs.append(out)
    return moments, tuple(outputs)


@original.differentiated
def dimpulse(system: Any, x0: Any = None, t: Any = None, n: int | None = None) -> tuple[Any, tuple[Any, ...]]:
    """Times, and the responses of a discrete system to an impulse at each of its inputs."""
    return _to_each_input("dimpulse", system, x0, t, n, is_step=False)


@original.differentiated
def dstep(system: Any, x0: Any = None, t: Any = None, n: int | None = None) -> tuple[Any, tuple[Any, ...]]:
    """Times, and the responses of a discrete system to a step at each of its inputs."""
    return _to_each_input("dstep", system, x0, t, n, is_step=True)


# -- responses over frequencies


@original.differentiated
def freqresp(system: Any, w: Any = None, n: int = 10000) -> tuple[Any, Any]:
    """Frequencies, and the response of a continuous system at them."""
    at = n if w is None else w
    theirs = original.contents
    if isinstance(system, theirs.lti) or len(system) == 4:
        return freqs_zpk(*ss2zpk(*_state_space("freqresp", system)), worN=at)
    if len(system) == 2:
        return freqs(system[0], system[1], at)
    return freqs_zpk(system[0], system[1], system[2], at)


@original.differentiated
def dfreqresp(system: Any, w: Any = None, n: int = 10000, whole: bool = False) -> tuple[Any, Any]:
    """Frequencies in radians for each sample, and the response of a discrete system at them."""
    at = n if w is None else w
    theirs = original.contents
    if isinstance(system, theirs.dlti):
        return freqz_zpk(*ss2zpk(*_state_space("dfreqresp", system)), worN=at, whole=whole)
    parts = tuple(system[:-1])
    if len(parts) == 4:
        parts = ss2zpk(*parts)
    if len(parts) == 3:
        return freqz_zpk(*parts, worN=at, whole=whole)
    num, den = (as_vector(part, "dfreqresp: system") for part in parts)
    # coefficients are of powers of z, those of freqz of powers of 1 / z
    length = max(num.shape[0], den.shape[0])
    num, den = (np.concatenate([np.zeros(length - part.shape[0]), part]) for part in (num, den))
    return freqz(num, den, worN=at, whole=whole)


def _decibels(w: Any, response: Any) -> tuple[Any, Any, Any]:
    size = np.real(response) ** 2 + np.imag(response) ** 2
    return w, 10.0 * np.log10(size), np.unwrap(np.angle(response)) * 180.0 / np.pi


@original.differentiated
def bode(system: Any, w: Any = None, n: int = 100) -> tuple[Any, Any, Any]:
    """Frequencies, magnitude in decibels and phase in degrees of a continuous system."""
    return _decibels(*freqresp(system, w, n))


@original.differentiated
def dbode(system: Any, w: Any = None, n: int = 100) -> tuple[Any, Any, Any]:
    """Frequencies, magnitude in decibels and phase in degrees of a discrete system."""
    at, size, phase = _decibels(*dfreqresp(system, w, n))
    dt = system.dt if isinstance(system, original.contents.dlti) else system[-1]
    return at / dt, size, phase
