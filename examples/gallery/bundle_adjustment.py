"""
Bundle adjustment with a sparse Jacobian
========================================

Twelve cameras round an object see three hundred points of it. From nothing but where the points are in the pictures,
find where the points and the cameras were: bundle adjustment, the last stage of every reconstruction from
photographs.

The unknowns are six numbers for each camera and three for each point, almost a thousand, and there are six thousand
residuals. But each residual depends on one camera and one point, so only one entry in a hundred of the Jacobian is
not zero. ``gt.sparse_jacobian`` finds the pattern and needs eight passes, whatever the number of points.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import gradtape as gt

FOCAL, NOISE = 800.0, 0.5  # pixels

# %%
# The scene
# ---------


def scene(cameras, points, rng):
    """Points on a torus, cameras on a circle that look at its centre; what they see, with noise; a rough start."""
    a, b = rng.uniform(0, 2 * np.pi, (2, points))
    cloud = np.stack([(2 + 0.7 * np.cos(b)) * np.cos(a), (2 + 0.7 * np.cos(b)) * np.sin(a), 0.7 * np.sin(b)], axis=1)
    angle = 2 * np.pi * np.arange(cameras) / cameras
    poses = np.zeros((cameras, 6))
    for i, phi in enumerate(angle):
        centre = np.array([7 * np.cos(phi), 7 * np.sin(phi), 3.0 + np.sin(3 * phi)])
        forward = -centre / np.linalg.norm(centre)
        right = np.cross(forward, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        rotation = np.stack([right, np.cross(forward, right), forward])
        poses[i] = [*rotation_vector(rotation), *(-rotation @ centre)]
    seen = rng.random((cameras, points)) < 0.85
    camera, point = np.nonzero(seen)
    pixels = project(poses[camera], cloud[point]) + NOISE * rng.normal(size=(camera.size, 2))
    rough = poses + rng.normal(size=poses.shape) * [0.03, 0.03, 0.03, 0.15, 0.15, 0.15]
    return cloud, camera, point, pixels, rough, cloud + 0.15 * rng.normal(size=cloud.shape)


def rotation_vector(rotation):
    """The axis of a rotation matrix times its angle."""
    angle = np.arccos(np.clip((np.trace(rotation) - 1) / 2, -1, 1))
    axis = [rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]
    return np.array(axis) * angle / (2 * np.sin(angle))


# %%
# The camera
# ----------
# Rodrigues' formula rotates a point by a rotation vector; then the pinhole.


def project(pose, x):
    """Pixels of the points x (n, 3) in cameras of the poses (n, 6)."""
    w, shift = pose[:, :3], pose[:, 3:]
    angle = np.sqrt(np.sum(w**2, axis=1, keepdims=True))
    axis = w / angle
    along = np.sum(axis * x, axis=1, keepdims=True)
    turned = np.cos(angle) * x + np.sin(angle) * np.cross(axis, x) + (1 - np.cos(angle)) * along * axis
    there = turned + shift
    return FOCAL * there[:, :2] / there[:, 2:]


# %%
# The adjustment
# --------------
# SciPy's trust-region method with the sparse Jacobian. Seven directions of the unknowns change nothing in the
# pictures (where the whole scene is, how it is turned, how large it is); the method takes the shortest steps, so it
# leaves them alone.


def aligned(x, truth):
    """x moved, turned and scaled to the truth (Procrustes)."""
    a, b = x - x.mean(axis=0), truth - truth.mean(axis=0)
    left, scales, right = np.linalg.svd(a.T @ b)
    return scales.sum() / np.sum(a**2) * a @ (left @ right) + truth.mean(axis=0)


def solve(compiled: bool = True, cameras: int = 12, points: int = 300) -> dict[str, Any]:
    cloud, camera, point, pixels, rough, start = scene(cameras, points, np.random.default_rng(8))
    split = 6 * cameras

    def residuals(unknowns):
        pose, x = unknowns[:split].reshape(-1, 6), unknowns[split:].reshape(-1, 3)
        return ((project(pose[camera], x[point]) - pixels) / NOISE).reshape(-1)

    jacobian = gt.sparse_jacobian(residuals, pattern="cached")
    first = np.concatenate([rough.ravel(), start.ravel()])
    found = least_squares(
        gt.jit(residuals) if compiled else residuals,
        first,
        jac=jacobian,
        tr_solver="lsmr",
        x_scale="jac",
        ftol=1e-7,
        max_nfev=40,
    )
    entries = jacobian.pattern
    before, after = (NOISE * np.sqrt(np.mean(residuals(x) ** 2)) for x in (first, found.x))
    freedom = entries.shape[0] - (entries.shape[1] - 7)
    after_points = aligned(found.x[split:].reshape(-1, 3), cloud)
    error = float(np.sqrt(np.mean(np.sum((after_points - cloud) ** 2, axis=1))))
    error_before = float(np.sqrt(np.mean(np.sum((aligned(start, cloud) - cloud) ** 2, axis=1))))
    return {
        "result": f"rms in the pictures from {before:.1f} to {after:.2f} pixels, "
        f"points from {error_before:.2f} to {error:.4f} m; "
        f"{entries.shape[0]} x {entries.shape[1]} Jacobian in {jacobian.colours} passes",
        "before": float(before),
        "after": float(after),
        "chi": float(2 * found.cost / freedom),
        "colours": jacobian.colours,
        "pattern": entries,
        "cloud": cloud,
        "start": aligned(start, cloud),
        "points": after_points,
        "error": error,
        "error_before": error_before,
        "filled": entries.nnz / np.prod(entries.shape),
    }


# %%
# The points and the pattern
# --------------------------
# Seen from above: where the search started, and where it ended, on the points themselves. On the right the Jacobian,
# of which only the dots are stored: the cameras' columns are on the left.


def draw(found: dict[str, Any]) -> None:
    plt.style.use("tableau-colorblind10")
    _, axes = plt.subplots(1, 3, figsize=(9.5, 4.2), layout="constrained", width_ratios=(4, 4, 2.6))
    for axis, name, title in ((axes[0], "start", "start"), (axes[1], "points", "after the adjustment")):
        axis.plot(*found["cloud"][:, :2].T, "o", ms=5, mfc="none", mec="0.55", label="true")
        axis.plot(*found[name][:, :2].T, ".", ms=4, color="C0", label="estimated")
        axis.set(title=title, xlabel="x (m)", aspect="equal", xlim=(-3.4, 3.4), ylim=(-3.4, 3.4))
    axes[0].set_ylabel("y (m)")
    axes[0].legend(loc="center", fontsize=8, framealpha=0.95)
    rows, columns = found["pattern"].nonzero()
    axes[2].plot(columns, rows, ",", color="C0")
    axes[2].set(title=f"Jacobian, {found['filled']:.1%} stored", xlabel="unknown", ylabel="residual")
    axes[2].invert_yaxis()


if __name__ == "__main__":
    found = solve()
    print(found["result"])
    draw(found)
    plt.show()
