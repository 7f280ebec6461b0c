"""The table of a model's layers, as Keras draws it."""

from __future__ import annotations

from typing import Any

from gradtape_standins.tensorflow import nest

_NARROW = (31, 22, 13)
_CONNECTED = (19, 17, 10, 17)


def print_summary(model: Any) -> None:
    """Print the name of a model, a row for each layer, and the number of its parameters.

    Where a layer has several inputs, or gives its output to several layers, a fourth column says from where it comes.
    """
    sources = _sources(model)
    widths = _NARROW if sources is None else _CONNECTED
    titles = ["Layer (type)", "Output Shape", "Param #", "Connected to"][: len(widths)]
    print(f'Model: "{model.name}"')
    print(_rule("┏┳┓", "━", widths))
    print(_row(titles, widths, "┃"))
    print(_rule("┡╇┩", "━", widths))
    for number, layer in enumerate(model.layers):
        if number:
            print(_rule("├┼┤", "─", widths))
        count = f"{layer.count_params():,}" if layer.built else "0 (unbuilt)"
        cells = [f"{layer.name} ({_class_name(layer)})", _shape(layer, model), count]
        if sources is not None:
            cells.append(", ".join(sources.get(id(layer), [])) or "-")
        print(_row(cells, widths, "│"))
    print(_rule("└┴┘", "─", widths))
    trained = sum(v._value.size for v in model.trainable_variables)
    total = model.count_params()
    size, small = (sum(v._value.nbytes for v in some) for some in (model.weights, model.trainable_variables))
    kept = 0 if model.optimizer is None else model.optimizer.count_kept()
    more = 4 * kept + 4 * bool(kept)  # the number of steps is an integer of eight bytes
    print(f" Total params: {total + kept:,} ({_bytes(size + more)})")
    print(f" Trainable params: {trained:,} ({_bytes(small)})")
    print(f" Non-trainable params: {total - trained:,} ({_bytes(size - small)})")
    if kept:
        print(f" Optimizer params: {kept:,} ({_bytes(more)})")


def _class_name(layer: Any) -> str:
    return type(layer).__name__


def _sources(model: Any) -> dict[int, list[str]] | None:
    """For each layer the outputs that it takes, as `name[0][0]`; None if the layers are one chain."""
    calls = getattr(model, "calls", None)
    if calls is None:
        return None
    found: dict[int, list[str]] = {}
    used: dict[int, int] = {}
    for layer, symbols in calls:
        for symbol in symbols:
            maker = symbol.layer if symbol.made_by is None else symbol.made_by[0]
            place = 0 if symbol.made_by is None else symbol.made_by[3]
            found.setdefault(id(layer), []).append(f"{maker.name}[0][{place}]")
            used[id(maker)] = used.get(id(maker), 0) + 1
    is_chain = all(len(names) == 1 for names in found.values()) and all(count == 1 for count in used.values())
    return None if is_chain and len(model.inputs) == 1 else found


def _rule(corners: str, line: str, widths: tuple[int, ...]) -> str:
    return corners[0] + corners[1].join(line * (width + 2) for width in widths) + corners[2]


def _row(cells: list[str], widths: tuple[int, ...], edge: str) -> str:
    """A row, whose cells may be several lines high; the third is at the right."""
    wrapped = [_wrapped(cell, width) for cell, width in zip(cells, widths)]
    height = max(len(lines) for lines in wrapped)
    rows = []
    for line in range(height):
        parts = [lines[line] if line < len(lines) else "" for lines in wrapped]
        shown = [part.rjust(w) if place == 2 else part.ljust(w) for place, (part, w) in enumerate(zip(parts, widths))]
        rows.append(f"{edge} " + f" {edge} ".join(shown) + f" {edge}")
    return "\n".join(rows)


def _wrapped(text: str, width: int) -> list[str]:
    """`text` in lines of `width`, broken at spaces; words that are too long are cut."""
    lines = [""]
    for word in text.split(" "):
        short = word if len(word) <= width else word[: width - 1] + "…"
        joined = f"{lines[-1]} {short}" if lines[-1] else short
        if len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(short)
    return lines


def _shape(layer: Any, model: Any) -> str:
    symbols = layer.__dict__.get("_symbols")
    if symbols is not None:
        shapes = [tuple(symbol.shape) for symbol in nest.flatten(symbols[1])]
    else:
        found = layer.__dict__.get("_output_shapes")
        if not found or found[0] is None:
            return "?"
        shapes = [tuple(shape) for shape in found]
    if len(shapes) == 1:
        return str(shapes[0])
    text = ", ".join(map(str, shapes))
    return f"[{text}]" if symbols is not None else f"({text})"


def _bytes(size: int) -> str:
    for unit, name in ((1024**2, "MB"), (1024, "KB")):
        if size >= unit:
            return f"{size / unit:.2f} {name}"
    return f"{size:.2f} B"
