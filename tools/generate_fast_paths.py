"""Writes the generated parts of the fast paths: running and recording an operation, from one template.

`gradtape.core.operation.apply` defines what an operation does. Four functions repeat it inline for the plain case,
because a function call for each step would double the time of a small operation:

- `fast_unary` and `fast_binary` of `gradtape/core/fast_apply.py`, which make a function for one operation;
- `_record` of `gradtape/jit/trace/fast_path.py`, for traced tensors;
- `OpTemplate._record` of `gradtape/jit/trace/loops/template.py`, for an iteration that equals the one before.

They differ in the number of operands, in where the location comes from and in what is known beforehand; all else is
below, once. In the modules, generated lines are between a line `# generated: <name>` and `# end of generated code`.
Change them here and run:

    python tools/generate_fast_paths.py

A test compares the modules with what is written here, and others compare what the functions record with what `apply`
does.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

ROOT = Path(__file__).parents[1] / "gradtape"
END = "# end of generated code"


def fill(template: str, **values: str) -> str:
    """The template with each `<name>` replaced by its value, indented as the name is.

    A line that is only a name whose value is empty is left out.

    >>> fill('''
    ...     if ready:
    ...         <body>
    ... ''', body="first()" + chr(10) + "second()").splitlines()
    ['if ready:', '    first()', '    second()']
    """
    lines = []
    for line in dedent(template).strip("\n").splitlines():
        name = line.strip().removeprefix("<").removesuffix(">")
        if line.strip() == f"<{name}>":
            lines += indent(values[name], line[: len(line) - len(line.lstrip())]).splitlines()
            continue
        for name, value in values.items():
            line = line.replace(f"<{name}>", value)
        lines.append(line)
    return "\n".join(lines)


# -- the parts of a node that are found in more than one way

LOCATION_OF_CALLER = """
    if config.locations:
        frame: Any = _getframe(depth)
        code = frame.f_code
        if code is not state.code:
            if code.co_filename in user_files:
                state.code = code
            else:
                frame = first_user_frame(frame) or NOWHERE
                code = frame.f_code
        node.code = code
        node.offset = frame.f_lasti
    else:
        node.code, node.offset = None, 0
"""

KNOWN_LOCATION = """
    node.code = <code>
    node.offset = <offset>
"""

SAVED_UNARY = """
    keep, node.inputs, keep_out = <plans>[1] or op.plan(1, 1)
    if keep is not None:
        node.inputs = (<value>,)
"""

SAVED_BINARY = """
    <operands>
    tracked = (left.bits > FLAGS) + 2 * (right.bits > FLAGS)
    keep, node.inputs, keep_out = <plans>[tracked + 1] or op.plan(tracked, 2)
    if keep is not None:
        <save>
"""

SAVE_TWO = "node.inputs = (<first> if keep[0] else None, <second> if keep[1] else None)"

CHECK_STRETCH = """
    if <stretches> and (left if tracked & 1 else right).shape != <shape>:
        note_stretch(node, <inputs>)
"""

# -- a node: every slot of `Node` is set here

NODE = """
    node = _new(Node)
    node.op = op
    node.params = <params>
    node.parents = <parents>
    node.bits = <bits>
    node.order = next_order()
    node.recording = <state>
    node.extra = None
    <location>
    node.shape = <shape>
    node.dtype = <dtype>
    <saved>
    node.out = <out> if <keep_out> else None
"""

# -- a whole operation of core: kernel, active tapes, node, result

RUN_AND_RECORD = """
    try:
        out = kernel(<arrays>)
    except Exception as error:
        refusal = messages.refused_operands(error, op, <inputs>, NO_PARAMS)
        raise refusal from refusal.__cause__
    state = _current_recording()
    live = bits & state.bits
    if bits & VARIABLE:
        live |= state.notify_of_variables(<variables>)
    if not live:
        if bits > TENSOR:
            return off_tape(op, out, <nodes>, bits, 0, <inputs>, NO_PARAMS)
        result = _new(Tensor)
        result._array = out
        result._node = UNTRACKED
        return result
    <parents>
    <node>
    <stretch>
    result = _new(Tensor)
    result._array = out
    result._node = node
    if live & state.forward:
        push(node, live, state)
    return result
"""


def core_node(parents: str, saved: str) -> str:
    return fill(
        NODE,
        params="NO_PARAMS",
        parents=parents,
        bits="live | TENSOR",
        state="state",
        location=fill(LOCATION_OF_CALLER),
        shape="out.shape",
        dtype="out.dtype",
        saved=saved,
        out="out",
        keep_out="keep_out",
    )


def fast_unary() -> str:
    """An operation of one input `x`, a tensor at the node `parent` with the value `array`."""
    return fill(
        RUN_AND_RECORD,
        inputs="(x,)",
        arrays="array",
        variables="[x] if kind is Variable else []",
        nodes="(parent,)",
        parents="",
        node=core_node("(parent,)", fill(SAVED_UNARY, plans="plans", value="array")),
        stretch="",
    )


def fast_binary() -> str:
    """An operation of two inputs `x` and `y` at the nodes `left` and `right`, with the values `a` and `b`."""
    save = """
        if kind is ndarray or other is ndarray:
            node.inputs = values_to_save((x, y), (a, b), keep, specs=False)
        else:
            <save>
    """
    cuts = """
        if bits & CUT_OR_TAPE & ~live:
            left, right = parent_of(left, live), parent_of(right, live)
    """
    save = fill(save, save=fill(SAVE_TWO, first="a", second="b"))
    return fill(
        RUN_AND_RECORD,
        inputs="(x, y)",
        arrays="a, b",
        variables="[v for v in (x, y) if type(v) is Variable and v._node.bits & VARIABLE]",
        nodes="(left, right)",
        parents=fill(cuts),
        node=core_node("left, right", fill(SAVED_BINARY, operands="", plans="plans", save=save)),
        stretch=fill(CHECK_STRETCH, stretches="stretches", shape="node.shape", inputs="(x, y)"),
    )


# -- a traced operation: the node is that of an interpreter's tensor, and its location is known


def traced_node() -> str:
    """The node of a traced operation, of one or two `inputs` whose nodes are `parents`."""
    unary = fill(SAVED_UNARY, plans="op.plans", value="_without_node(inputs[0])")
    save = fill(SAVE_TWO, first="_without_node(inputs[0])", second="_without_node(inputs[1])")
    binary = fill(SAVED_BINARY, operands="left, right = parents", plans="op.plans", save=save)
    saved = """
        if len(parents) == 1:
            <unary>
        else:
            <binary>
    """
    node = fill(
        NODE,
        params="params",
        parents="parents",
        bits="live | _OFF_TAPE",
        state="state",
        location=fill(KNOWN_LOCATION, code="code", offset="offset"),
        shape="shape",
        dtype="dtype",
        saved=fill(saved, unary=unary, binary=binary),
        out="TraceTensor(out, value, level)",
        keep_out="keep_out",
    )
    stretch = fill(CHECK_STRETCH, stretches="len(parents) == 2 and op.stretches", shape="shape", inputs="inputs")
    return f"{node}\n{stretch}"


def loop_node() -> str:
    """The node of an operation that equals its template, which has the location and says what is saved."""
    saved = """
        keep = self.keep
        if keep is None:
            node.inputs = self.nothing
        elif len(keep) == 1:
            node.inputs = (_without_node(inputs[0], kind),)
        else:
            <save>
    """
    save = """
        node.inputs = (
            _without_node(inputs[0], kind) if keep[0] else None,
            _without_node(inputs[1], kind) if keep[1] else None,
        )
    """
    return fill(
        NODE,
        params="params",
        parents="parents",
        bits="self.live_bits",
        state="self.state",
        location=fill(KNOWN_LOCATION, code="self.code", offset="self.offset"),
        shape="shape",
        dtype="dtype",
        saved=fill(saved, save=fill(save)),
        out="_without_node(result, kind)",
        keep_out="self.keep_out",
    )


GENERATED = {
    "core/fast_apply.py": {"fast_unary": fast_unary, "fast_binary": fast_binary},
    "jit/trace/fast_path.py": {"traced_node": traced_node},
    "jit/trace/loops/template.py": {"loop_node": loop_node},
}
"""The modules with generated lines, and the function above for each name."""


def generate(module: str) -> str:
    """The text of a module with its generated lines as they should be."""
    text = (ROOT / module).read_text(encoding="utf-8")
    for name, function in GENERATED[module].items():
        head, line, rest = text.partition(f"# generated: {name} (tools/generate_fast_paths.py)\n")
        margin = head.rpartition("\n")[2]
        tail = rest[rest.index(f"{margin}{END}") :]
        text = f"{head}{line}{indent(function(), margin)}\n{tail}"
    return text


if __name__ == "__main__":
    for module in GENERATED:
        (ROOT / module).write_text(generate(module), encoding="utf-8")
