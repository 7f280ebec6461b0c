"""Units whose weights are equal, and whose gradients are equal too: they stay copies of each other (GT514)."""

from __future__ import annotations

from typing import Any

from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.source.files import span_of
from gradtape.explain.source.parameter_names import name_of
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.torch.recorder import CopiedLeaf, TorchRecorder
from gradtape.watching.torch.registration import Registry

ELEMENTS_AT_MOST = 1 << 22


def judge(
    leaf: Any,
    gradient: Any,
    run: Any,
    computation: RecordedComputation | None,
    recorder: TorchRecorder,
    registry: Registry,
) -> bool:
    """Report a weight whose units are all equal and get equal gradients. Whether that is decided for this weight.

    A gradient of zero decides nothing: it is that of a layer before one that starts at zero.
    """
    if leaf.dim() < 2 or leaf.numel() > ELEMENTS_AT_MOST or not leaf.is_floating_point():
        return True
    record = recorder.record_of(leaf)
    if isinstance(record, CopiedLeaf) or _is_input_of_a_layer(record, computation):
        return True  # values that were computed, or an image, a latent or a perturbation, and not weights
    weight, gradient = leaf.detach(), gradient.detach()
    if weight.layout != gradient.layout or gradient.is_sparse or weight.shape != gradient.shape:
        return True
    axes = [axis for axis in (0, 1) if leaf.shape[axis] > 1 and leaf.shape[axis] < leaf.numel()]
    if leaf.dim() == 2 and 1 in leaf.shape:
        axes = []  # one unit, or a bias
    axis = next((axis for axis in axes if _is_equal(weight, axis, 0.0) and _is_equal(gradient, axis, 1e-5)), None)
    if axis is None:
        return True
    if not bool(gradient.any()):
        return False
    known = registry.find(leaf)
    name = registry.path_of(leaf) or name_of(leaf) or "the weight"
    write = recorder.last_write_of_program(leaf)
    where = write.location if write is not None else known.location if known else record and record.location
    spans = [span_of(run.location).labelled("gives all of them the same gradient")]
    if where and where.is_known:
        spans.append(span_of(where).labelled("made equal here"))
    found = problem(
        "GT514",
        f"all {leaf.shape[axis]} units of {name} have the same weights, and get the same gradient",
        spans=spans,
        consequence="they stay copies of each other: the layer computes one number, however many units it has",
        fixes="weights that differ to begin with: torch.nn.init.xavier_uniform_(weight), torch.randn; zeros and "
        "constants are for biases",
        intent="gt.explain.configure(GT514='off')",
    )
    if is_due("GT514", *found.place[1:]):
        report(found)
    return True


def _is_input_of_a_layer(record: Any, computation: RecordedComputation | None) -> bool:
    """Whether a leaf is what a layer is applied to."""
    users = () if computation is None else computation.consumers.get(record, ())
    return any(
        user.operation.startswith(("linear", "conv", "bilinear")) and user.parents and user.parents[0] is record
        for user in users
    )


def _is_equal(values: Any, axis: int, tolerance: float) -> bool:
    """Whether all units along an axis are equal, up to a share of the largest number."""
    spread = (values.amax(dim=axis) - values.amin(dim=axis)).max()
    return bool(spread <= tolerance * values.abs().max())


__all__ = ["judge"]
