"""`scipy.spatial.transform` with gradients: rotations made of tensors, by quaternions.

`Rotation.from_...` of arrays is SciPy's own object; of tensors it is one of ours, with the same methods.

>>> import numpy as np, gradtape as gt
>>> from gradtape.scipy.spatial.transform import Rotation
>>> turned = lambda angle: Rotation.from_euler("z", angle, degrees=True).apply([1.0, 0.0, 0.0])
>>> turned(gt.tensor(90.0)).round(6)
Tensor([0., 1., 0.])
>>> gt.jacobian(turned)(gt.tensor(0.0)).round(6)
Tensor([0.      , 0.017453, 0.      ])
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy.spatial import transform as scipys

from gradtape.errors import ShapeError
from gradtape.extend import concrete
from gradtape.mirror import Original, holds_tensor
from gradtape.ops.elementwise import where
from gradtape.scipy.arraylike import as_floating, is_tensor, refusal, surely

original = Original("scipy.spatial.transform")

SMALL = 1e-4
"""Below this square of an angle, series take the place of quotients that are 0 / 0 at 0."""


# -- quaternions (x, y, z, w) along the last axis


def _unit(q: Any) -> Any:
    return q / np.sqrt(np.sum(q * q, axis=-1, keepdims=True))


def _product(p: Any, q: Any) -> Any:
    """Hamilton's product: the rotation q, then p."""
    vector = p[..., 3:] * q[..., :3] + q[..., 3:] * p[..., :3] + np.cross(p[..., :3], q[..., :3])
    scalar = p[..., 3:] * q[..., 3:] - np.sum(p[..., :3] * q[..., :3], axis=-1, keepdims=True)
    return np.concatenate([vector, scalar], axis=-1)


def _matrix(q: Any) -> Any:
    x, y, z, w = (q[..., k] for k in range(4))
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _from_matrix(m: Any) -> Any:
    """The quaternion of a matrix, from the largest of its components on, so that no root is near 0."""
    diagonal = [m[..., k, k] for k in range(3)]
    trace = diagonal[0] + diagonal[1] + diagonal[2]
    candidates = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parts: list[Any] = [None] * 4
        parts[i] = 1 - trace + 2 * diagonal[i]
        parts[j] = m[..., j, i] + m[..., i, j]
        parts[k] = m[..., k, i] + m[..., i, k]
        parts[3] = m[..., k, j] - m[..., j, k]
        candidates.append(np.stack(parts, axis=-1))
    skew = [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1], 1 + trace]
    candidates.append(np.stack(skew, axis=-1))
    largest = np.argmax(np.stack([*diagonal, trace], axis=-1), axis=-1)
    found: Any = candidates[3]
    for i in range(3):
        found = where(np.expand_dims(largest == i, -1), candidates[i], found)
    return _unit(found)


def _from_rotvec(v: Any) -> Any:
    """exp of half a rotation vector: (sin(a/2) / a v, cos(a/2)), smooth at a = 0."""
    square = np.sum(v * v, axis=-1, keepdims=True)
    small = square < SMALL
    angle = np.sqrt(where(small, 1.0, square))
    scale = where(small, 0.5 - square / 48 + square**2 / 3840, np.sin(angle / 2) / angle)
    cosine = where(small, 1 - square / 8 + square**2 / 384 - square**3 / 46080, np.cos(angle / 2))
    return np.concatenate([scale * v, cosine], axis=-1)


def _as_rotvec(q: Any) -> Any:
    q = where(q[..., 3:] < 0, -q, q)
    square = np.sum(q[..., :3] ** 2, axis=-1, keepdims=True)
    small = square < SMALL
    sine = np.sqrt(where(small, 1.0, square))
    series = 2 + square * (1 / 3 + square * (3 / 20 + square * 5 / 56))
    return where(small, series, 2 * np.arctan2(sine, q[..., 3:]) / sine) * q[..., :3]


def _axis_letters(name: str, seq: str) -> tuple[list[int], bool]:
    """The axes of Euler angles, and whether they turn with the body."""
    intrinsic = seq.isupper()
    axes = ["xyz".find(letter) for letter in seq.lower()]
    if not 1 <= len(axes) <= 3 or -1 in axes or seq not in (seq.lower(), seq.upper()):
        raise refusal(f"{name}: seq={seq!r}; one to three of xyz or of XYZ are accepted.", "seq='xyz'")
    if any(one == other for one, other in itertools.pairwise(axes)):
        raise refusal(f"{name}: seq={seq!r} has an axis twice in a row.", "seq='xyz'")
    return axes, intrinsic


class _RotationType(type):
    """So that SciPy's rotations count as instances of ours too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or isinstance(instance, scipys.Rotation)


class Rotation(metaclass=_RotationType):
    """Rotations whose quaternions are tensors. Made by its class methods, which give SciPy's for plain arrays."""

    _quaternions: Any

    def __new__(cls, quat: Any, *args: Any, **kwargs: Any) -> Any:
        if not holds_tensor((quat,)):
            return scipys.Rotation(quat, *args, **kwargs)
        return cls.from_quat(quat, scalar_first=kwargs.get("scalar_first", False))

    @classmethod
    def _of(cls, quaternions: Any) -> Any:
        made = object.__new__(cls)
        made._quaternions = quaternions
        return made

    # -- made of numbers

    @classmethod
    def from_quat(cls, quat: Any, *, scalar_first: bool = False) -> Any:
        """Rotations by quaternions, which are normalised."""
        if not holds_tensor((quat,)):
            return scipys.Rotation.from_quat(quat, scalar_first=scalar_first)
        q = as_floating(quat)
        if q.ndim not in (1, 2) or q.shape[-1] != 4:
            raise refusal(f"from_quat: quat has shape {q.shape}; (4,) or (n, 4) is accepted.", "(n, 4)", ShapeError)
        return cls._of(_unit(np.roll(q, -1, axis=-1) if scalar_first else q))

    @classmethod
    def from_matrix(cls, matrix: Any, **kwargs: Any) -> Any:
        """Rotations by matrices, which have to be orthogonal."""
        if not holds_tensor((matrix,)):
            return scipys.Rotation.from_matrix(matrix, **kwargs)
        m = as_floating(matrix)
        if m.ndim not in (2, 3) or m.shape[-2:] != (3, 3):
            raise refusal(
                f"from_matrix: matrix of shape {m.shape}; (3, 3) or (n, 3, 3) is accepted.", "(3, 3)", ShapeError
            )
        apart = np.matmul(m, np.swapaxes(m, -1, -2)) - np.eye(3)
        if surely(np.any(np.abs(apart) > 1e-6)):
            raise refusal(
                "from_matrix: a tensor that is not orthogonal to 1e-6.", "u @ v of its singular value decomposition"
            )
        return cls._of(_from_matrix(m))

    @classmethod
    def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> Any:
        """Rotations by vectors along the axis, as long as the angle."""
        if not holds_tensor((rotvec,)):
            return scipys.Rotation.from_rotvec(rotvec, degrees)
        v = as_floating(rotvec)
        if v.ndim not in (1, 2) or v.shape[-1] != 3:
            raise refusal(f"from_rotvec: rotvec has shape {v.shape}; (3,) or (n, 3) is accepted.", "(n, 3)", ShapeError)
        return cls._of(_from_rotvec(np.deg2rad(v) if degrees else v))

    @classmethod
    def from_mrp(cls, mrp: Any) -> Any:
        """Rotations by modified Rodrigues parameters: the axis times tan(angle / 4)."""
        if not holds_tensor((mrp,)):
            return scipys.Rotation.from_mrp(mrp)
        v = as_floating(mrp)
        square = np.sum(v * v, axis=-1, keepdims=True)
        return cls._of(np.concatenate([2 * v, 1 - square], axis=-1) / (1 + square))

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Any:
        """Rotations by angles about the axes in `seq`: xyz stay where they are, XYZ turn with the body."""
        if not holds_tensor((angles,)):
            return scipys.Rotation.from_euler(seq, angles, degrees)
        axes, intrinsic = _axis_letters("from_euler", seq)
        a = as_floating(angles)
        a = np.deg2rad(a) if degrees else a
        shape = scipys.Rotation.from_euler(seq, np.zeros(a.shape)).as_quat().shape  # or SciPy's error
        a = a.reshape((*shape[:-1], len(axes)))
        total: Any = None
        for k, axis in enumerate(axes):
            half = a[..., k : k + 1] / 2
            direction = np.eye(3)[axis]
            turn = np.concatenate([np.sin(half) * direction, np.cos(half)], axis=-1)
            total = turn if total is None else _product(total, turn) if intrinsic else _product(turn, total)
        return cls._of(total.reshape(shape))

    @classmethod
    def concatenate(cls, rotations: Any) -> Any:
        """One object with the rotations of several."""
        several = list(rotations)
        if not any(type(each) is cls for each in several):
            return scipys.Rotation.concatenate(several)
        quaternions = [_quaternions(each) for each in several]
        return cls._of(np.concatenate([q.reshape((-1, 4)) for q in quaternions]))

    identity = staticmethod(scipys.Rotation.identity)
    random = staticmethod(scipys.Rotation.random)
    create_group = staticmethod(scipys.Rotation.create_group)

    # -- as numbers

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Any:
        """The quaternions; with `canonical` those whose scalar is not negative."""
        q = self._quaternions
        if canonical:
            q = where(q[..., 3:] < 0, -q, q)
        return np.roll(q, 1, axis=-1) if scalar_first else q.copy()

    def as_matrix(self) -> Any:
        """The matrices."""
        return _matrix(self._quaternions)

    def as_rotvec(self, degrees: bool = False) -> Any:
        """Vectors along the axis, as long as the angle."""
        found = _as_rotvec(self._quaternions)
        return np.rad2deg(found) if degrees else found

    def as_mrp(self) -> Any:
        """Modified Rodrigues parameters."""
        q = where(self._quaternions[..., 3:] < 0, -self._quaternions, self._quaternions)
        return q[..., :3] / (1 + q[..., 3:])

    def as_euler(self, seq: str, degrees: bool = False, **kwargs: Any) -> Any:
        """Angles about three axes; where two of them cannot be told apart there is no derivative."""
        axes, intrinsic = _axis_letters("as_euler", seq)
        if len(axes) != 3:
            raise refusal(f"as_euler: seq={seq!r}; three axes are accepted.", "seq='xyz'")
        i, j, k = axes[::-1] if intrinsic else axes
        symmetric = i == k
        k = 3 - i - j if symmetric else k
        sign = (i - j) * (j - k) * (k - i) // 2
        x = [self._quaternions[..., n] for n in range(4)]
        if symmetric:
            a, b, c, d = x[3], x[i], x[j], x[k] * sign
        else:
            a, b, c, d = x[3] - x[j], x[i] + x[k] * sign, x[j] + x[3], x[k] * sign - x[i]
        first, second = a * a + b * b, c * c + d * d
        if surely(np.any(np.minimum(first, second) < 1e-14)):
            raise refusal(
                f"as_euler: seq={seq!r} in gimbal lock, where the first and the third angle have no derivative.",
                "another seq, as_rotvec or as_quat",
            )
        middle = 2 * np.arctan2(np.sqrt(second), np.sqrt(first))
        total, apart = np.arctan2(b, a), np.arctan2(d, c)
        one, other = total - apart, total + apart
        if not symmetric:
            other, middle = other * sign, middle - np.pi / 2
        angles = np.stack([other, middle, one] if intrinsic else [one, middle, other], axis=-1)
        angles = angles - 2 * np.pi * np.round(angles / (2 * np.pi))
        return np.rad2deg(angles) if degrees else angles

    def magnitude(self) -> Any:
        """The angles."""
        q = self._quaternions
        square = np.sum(q[..., :3] ** 2, axis=-1)
        nothing = square == 0
        return 2 * np.arctan2(where(nothing, 0.0, np.sqrt(where(nothing, 1.0, square))), np.abs(q[..., 3]))

    # -- what they do

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        """Vectors turned by these rotations, or back."""
        v = as_floating(vectors)
        if v.ndim not in (1, 2) or v.shape[-1] != 3:
            raise refusal(f"apply: vectors of shape {v.shape}; (3,) or (n, 3) is accepted.", "(n, 3)", ShapeError)
        m = self.as_matrix()
        m = np.swapaxes(m, -1, -2) if inverse else m
        if self.single:
            return np.matmul(v, m.T)
        return np.matmul(m, v.reshape((*v.shape, 1)))[..., 0]

    def inv(self) -> Any:
        """The rotations back."""
        return type(self)._of(self._quaternions * np.array([-1.0, -1.0, -1.0, 1.0]))

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Rotation):
            return NotImplemented
        return Rotation._of(_product(self._quaternions, _quaternions(other)))

    def __rmul__(self, other: Any) -> Any:
        if not isinstance(other, Rotation):
            return NotImplemented
        return Rotation._of(_product(_quaternions(other), self._quaternions))

    def __pow__(self, n: Any, modulus: None = None) -> Any:
        return Rotation._of(_from_rotvec(n * _as_rotvec(self._quaternions)))

    @property
    def single(self) -> bool:
        """Whether this is one rotation."""
        return bool(self._quaternions.ndim == 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of rotations."""
        return tuple(self._quaternions.shape[:-1])

    def __len__(self) -> int:
        if self.single:
            raise TypeError("Single rotation has no len().")
        return int(self._quaternions.shape[0])

    def __getitem__(self, index: Any) -> Any:
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        return Rotation._of(self._quaternions[index].copy())

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        if not isinstance(value, Rotation):
            raise TypeError("value must be a Rotation object")
        self._quaternions[index] = _quaternions(value)

    def __copy__(self) -> Any:
        return type(self)._of(self._quaternions.copy())

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __repr__(self) -> str:
        return f"Rotation.from_quat({self._quaternions!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(scipys.Rotation, name):
            raise AttributeError(f"'Rotation' object has no attribute {name!r}")
        raise refusal(
            f"Rotation.{name} of a rotation made of tensors has no derivative in gradtape.",
            f"scipy.spatial.transform.Rotation.from_quat(rotation.as_quat().numpy()).{name}",
        )


for _name in ("align_vectors", "from_davenport"):
    setattr(Rotation, _name, staticmethod(getattr(scipys.Rotation, _name)))


def _quaternions(rotation: Any) -> Any:
    """The quaternions of a rotation of ours or of SciPy's."""
    return rotation.as_quat()


class Slerp:
    """Rotations between given ones at the same speed all the way; differentiated by them and by the times."""

    _theirs: Any

    def __new__(cls, times: Any, rotations: Any) -> Any:
        made = object.__new__(cls)
        is_plain = type(rotations) is not Rotation and not holds_tensor((times,))
        made._theirs = scipys.Slerp(times, rotations) if is_plain else None
        return made

    def __init__(self, times: Any, rotations: Any) -> None:
        self.times = as_floating(times)
        self.rotations = rotations[:]  # what is written to them later does not change this
        if self.times.ndim != 1 or self.times.shape[0] != len(rotations) or self.times.shape[0] < 2:
            raise refusal(
                f"Slerp: times of shape {self.times.shape} for {len(rotations)} rotations.",
                "a time for each, at least 2",
            )
        if surely(np.any(self.times[1:] <= self.times[:-1])):
            raise refusal("Slerp: times do not rise.", "times in rising order")

    def __call__(self, times: Any) -> Any:
        """The rotations at times between the first and the last."""
        if self._theirs is not None and not holds_tensor((times,)):
            return self._theirs(times)
        at = as_floating(times)
        is_single = not at.ndim
        at = at.reshape((-1,))
        known = concrete(self.times) if is_tensor(self.times) else self.times
        numbers = concrete(at) if is_tensor(at) else at
        if np.any(numbers < known[0]) or np.any(numbers > known[-1]):
            raise refusal("Slerp: a time is not between the first and the last.", "times in between")
        place = np.clip(np.searchsorted(known, numbers) - 1, 0, len(known) - 2)
        quaternions = _quaternions(self.rotations)
        start, end = quaternions[place], quaternions[place + 1]
        back = start * np.array([-1.0, -1.0, -1.0, 1.0])
        share = (at - self.times[place]) / (self.times[place + 1] - self.times[place])
        found = _product(start, _from_rotvec(_as_rotvec(_product(back, end)) * share.reshape((-1, 1))))
        return Rotation._of(found[0] if is_single else found)


original.functions.update(Rotation=Rotation, Slerp=Slerp)

REASONS = {"runs the tests of SciPy": "test"}
"""Why functions refuse tensors whose gradient is recorded: names for each reason."""

__getattr__, __dir__, __test__ = original.module(globals(), REASONS)
