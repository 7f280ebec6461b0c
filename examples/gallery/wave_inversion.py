"""
Inverting a wave equation for what it went through
==================================================

Sources on one side of a body of rock send a pulse, receivers on the other sides record it. The recordings depend on the
speed of sound in between; finding that speed from the recordings is full-waveform inversion, the method of seismic
imaging and of ultrasound tomography.

The wave solver is a plain NumPy loop over time steps. Differentiated, it gives the gradient of the misfit by every
cell of the speed at once: what is called the adjoint-state method is the walk back through that loop. ``gt.jit``
turns both into native loops.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import gradtape as gt

SIZE, SPACING, STEP = 56, 10.0, 0.0012  # grid points, metres, seconds
STEPS, FREQUENCY, NOISE = 330, 16.0, 0.02  # noise relative to the rms of the recordings
BACKGROUND = 2500.0  # m/s
PLACES = np.arange(7, SIZE - 6, 3)
RECEIVERS = np.concatenate(  # rows and columns: near the surface, on the far side, and at the bottom
    [[0 * PLACES + 4, PLACES], [PLACES, 0 * PLACES + SIZE - 5], [0 * PLACES + SIZE - 5, PLACES]], axis=1
)
SOURCES = np.linspace(8, SIZE - 9, 5).round().astype(int)

# %%
# The solver
# ----------
# The scalar wave equation, second order in time and space, for all five sources at once. Near the edge a damping
# layer keeps waves from coming back. The pulse is a Ricker wavelet.

EDGE = np.minimum(np.arange(SIZE), np.arange(SIZE)[::-1])
LAYER = np.exp(-((0.045 * np.clip(8 - np.minimum(EDGE[:, None], EDGE), 0, None)) ** 2))
PHASE = (np.pi * FREQUENCY * (np.arange(STEPS) * STEP - 1.2 / FREQUENCY)) ** 2
PULSE = (1.0 - 2.0 * PHASE) * np.exp(-PHASE)
SHOTS = np.zeros((len(SOURCES), SIZE, SIZE))
SHOTS[np.arange(len(SOURCES)), SOURCES, 4] = 1.0


def record(speed, pulse, shots):
    """The pressure at the receivers: (time steps, sources, receivers)."""
    courant = (speed * (STEP / SPACING)) ** 2
    before, now = np.zeros_like(shots), np.zeros_like(shots)
    traces = []
    for amplitude in pulse:
        padded = np.pad(now, ((0, 0), (1, 1), (1, 1)))
        bending = padded[:, 2:, 1:-1] + padded[:, :-2, 1:-1] + padded[:, 1:-1, 2:] + padded[:, 1:-1, :-2] - 4.0 * now
        after = LAYER * (2.0 * now - LAYER * before + courant * bending) + amplitude * shots
        before, now = now, after
        traces.append(now[:, RECEIVERS[0], RECEIVERS[1]])
    return gt.stack(traces)


def true_speed():
    """Rock with a fast lens and a slow one."""
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    fast = np.exp(-(((x - 24) / 6.0) ** 2) - ((y - 20) / 5.0) ** 2)
    slow = np.exp(-(((x - 33) / 6.0) ** 2) - ((y - 38) / 4.0) ** 2)
    return BACKGROUND + 350.0 * fast - 300.0 * slow


# %%
# The inversion
# -------------
# L-BFGS on the speed of every cell, in units of 100 m/s, with a penalty on its roughness that is small beside the
# misfit.


def solve(compiled: bool = True, iterations: int = 30) -> dict[str, Any]:
    simulate = gt.jit(record) if compiled else record
    truth = true_speed()
    clean = simulate(truth, PULSE, SHOTS)
    scale = NOISE * np.sqrt(np.mean(clean**2))
    measured = clean + scale * np.random.default_rng(0).normal(size=clean.shape)

    def objective(change, measured, pulse, shots):
        speed = BACKGROUND + 100.0 * change
        rough = np.sum(np.diff(change, axis=0) ** 2) + np.sum(np.diff(change, axis=1) ** 2)
        return np.mean(((record(speed, pulse, shots) - measured) / scale) ** 2) + 0.004 * rough

    misfits = []
    found = gt.optimize.minimize(
        objective,
        np.zeros((SIZE, SIZE)),
        "L-BFGS-B",
        bounds=(-8.0, 8.0),
        args=(measured, PULSE, SHOTS),
        options={"maxiter": iterations},
        callback=lambda intermediate_result: misfits.append(float(intermediate_result.fun)),
        jit=compiled,
    )
    speed = BACKGROUND + 100.0 * found.x
    first = float(np.mean(((simulate(np.full_like(truth, BACKGROUND), PULSE, SHOTS) - measured) / scale) ** 2))
    inside = np.s_[8:-8, 8:-8]
    error, before = (np.sqrt(np.mean((s - truth)[inside] ** 2)) for s in (speed, BACKGROUND))
    return {
        "result": f"misfit from {first:.0f} to {misfits[-1]:.1f} times the noise; "
        f"error of the speed from {before:.0f} to {error:.0f} m/s",
        "truth": truth,
        "speed": speed,
        "measured": measured,
        "misfits": [first, *misfits],
        "error": float(error),
        "before": float(before),
    }


# %%
# The rock, as it is and as it was found
# --------------------------------------
# Triangles are the sources, dots the receivers. Both lenses are found in place, size and sign, from five pulses.


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.8), layout="constrained")
    extent = (0, SIZE * SPACING, SIZE * SPACING, 0)
    for axis, name, title in ((axes[0], "truth", "true speed"), (axes[1], "speed", "found by inversion")):
        image = axis.imshow(found[name] / 1000, cmap="PuOr", vmin=2.1, vmax=2.9, extent=extent)
        axis.plot(np.full(len(SOURCES), 4.5) * SPACING, (SOURCES + 0.5) * SPACING, "k>", ms=6)
        axis.plot(*(RECEIVERS[::-1] + 0.5) * SPACING, "k.", ms=4)
        axis.set(title=title, xlabel="distance (m)")
    axes[0].set_ylabel("depth (m)")
    figure.colorbar(image, ax=axes[1], label="speed (km/s)", shrink=0.8)
    axes[2].semilogy(found["misfits"], "o-", ms=3)
    axes[2].axhline(1.0, color="0.4", ls="--")
    axes[2].annotate("noise", (len(found["misfits"]) * 0.8, 1.1), color="0.3")
    axes[2].set(title="convergence", xlabel="iteration of L-BFGS", ylabel="misfit (times the noise variance)")


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
