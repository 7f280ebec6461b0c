"""The table of a model's layers, as Keras draws it."""

from __future__ import annotations

from typing import Any

_WIDTHS = (31, 22, 13)


def print_summary(model: Any) -> None:
    """Print the name of a model, a row for each layer, and the number of its parameters."""
    print(f'Model: "{model.name}"')
    print(_rule("┏┳┓", "━"))
    print("┃ " + " ┃ ".join(_cells("Layer (type)", "Output Shape", "Param #")) + " ┃")
    print(_rule("┡╇┩", "━"))
    for number, layer in enumerate(model.layers):
        if number:
            print(_rule("├┼┤", "─"))
        name = f"{layer.name} ({type(layer).__name__})"
        count = f"{layer.count_params():,}" if layer.built else "0 (unbuilt)"
        print("│ " + " │ ".join(_cells(name, _shape(layer), count)) + " │")
    print(_rule("└┴┘", "─"))
    trained = sum(v._value.size for v in model.trainable_variables)
    total = model.count_params()
    kept = 0 if model.optimizer is None else model.optimizer.count_kept()
    more = 4 * bool(kept)  # the number of steps is an integer of eight bytes
    print(f" Total params: {total + kept:,} ({_bytes(4 * (total + kept) + more)})")
    for title, size in (("Trainable", trained), ("Non-trainable", total - trained)):
        print(f" {title} params: {size:,} ({_bytes(4 * size)})")
    if kept:
        print(f" Optimizer params: {kept:,} ({_bytes(4 * kept + more)})")


def _rule(corners: str, line: str) -> str:
    return corners[0] + corners[1].join(line * (width + 2) for width in _WIDTHS) + corners[2]


def _cells(name: str, shape: str, count: str) -> list[str]:
    return [
        name[: _WIDTHS[0]].ljust(_WIDTHS[0]),
        shape[: _WIDTHS[1]].ljust(_WIDTHS[1]),
        count[: _WIDTHS[2]].rjust(_WIDTHS[2]),
    ]


def _shape(layer: Any) -> str:
    found = layer.__dict__.get("_output_shapes")
    if not found or found[0] is None:
        return "?"
    return str((None, *found[0][1:]))


def _bytes(size: int) -> str:
    for unit, name in ((1024**2, "MB"), (1024, "KB")):
        if size >= unit:
            return f"{size / unit:.2f} {name}"
    return f"{size:.2f} B"
