"""The report: what it says of a gradient, how it folds and lays out, and that nothing of the user's is executed."""

from __future__ import annotations

import itertools
import linecache
import math
import re
import warnings
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import explain_hooks
from gradtape.explain import Problem, Span
from gradtape.explain.emit import policy
from gradtape.explain.report import Collector, Report, of_tape, show, write
from gradtape.explain.report.axis_colours import COLOURS, Dimensions
from gradtape.explain.report.facts import Facts
from gradtape.explain.report.fold import GROUPS_DRAWN, by_line, fold
from gradtape.explain.report.layout import GAP_ACROSS, HEIGHT, layout
from gradtape.explain.report.numbers import stretch
from gradtape.explain.report.spread import Spread

numbers = itertools.count()
spaces: list[dict[str, Any]] = []


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Findings are looked at in the report here, not as warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        policy.notes(clear=True)
        yield
    spaces.clear()


def run(*lines: str, file: str | None = None) -> dict[str, Any]:
    """Run a program under a name of its own, so that its lines are the user's; its names, which stay alive."""
    file = file or f"/programs/program{next(numbers)}.py"
    text = "\n".join(lines).strip("\n") + "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"gt": gt, "np": np}
    spaces.append(space)
    exec(compile(text, file, "exec"), space)
    return space


def facts_of(space: dict[str, Any]) -> Facts:
    """The facts of the one gradient of the tape of a program."""
    (facts,) = of_tape(space["tape"], space.get("target"), space.get("sources")).gradients
    return facts


REGRESSION = """
X, y = np.ones((20, 3)), np.arange(20.0)
W, b = gt.Variable(np.zeros((3, 1))), gt.Variable(np.zeros(1))
with gt.GradientTape(persistent=True) as tape:
    pred = X @ W + b
    error = pred - y
    loss = (error**2).mean()
gradients = tape.gradient(loss, [W, b])
"""

LOOP = """
w = gt.Variable(0.9)
with gt.GradientTape(persistent=True) as tape:
    h = w * 1.0
    for _ in range(1000):
        h = h * w
    loss = h * 2.0
tape.gradient(loss, w)
"""


# -- facts


def test_sources_have_their_gradient() -> None:
    """The norms in the table of sources are those of the gradients that the tape gave."""
    space = run(REGRESSION)
    sources = facts_of(space).sources
    assert [(source.name, source.shape, source.gradient_shape) for source in sources] == [
        ("W", (3, 1), (3, 1)),
        ("b", (1,), (1,)),
    ]
    norms = [float(np.linalg.norm(gradient.numpy())) for gradient in space["gradients"]]
    assert [source.gradient.norm for source in sources if source.gradient] == pytest.approx(norms)


def test_edges_carry_the_size_of_the_gradient() -> None:
    """The size on an edge is the root mean square of the cotangent that passes along it."""
    facts = facts_of(
        run(
            "x = gt.Variable([3.0, 4.0])",
            "with gt.GradientTape(persistent=True) as tape:",
            "    y = (x * 10.0).sum()",
            "tape.gradient(y, x)",
        )
    )
    assert sorted(edge.size for edge in facts.edges.values() if edge.size) == [1.0, 10.0]


def test_looking_changes_nothing() -> None:
    """A report leaves the graph as it is: hooks are not called, and the gradient is the same afterwards."""
    space = run(REGRESSION)
    calls: list[Any] = []
    x = gt.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(calls.append)
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = (x * x).sum()
    of_tape(tape, y, x)
    assert calls == []
    of_tape(space["tape"])
    again = space["tape"].gradient(space["loss"], [space["W"], space["b"]])
    for one, other in zip(space["gradients"], again, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_values_and_saved_bytes() -> None:
    """A place knows the spread of its values and the bytes that it saved."""
    facts = facts_of(
        run(
            "x = gt.Variable(np.array([1.0, 2.0]))",
            "with gt.GradientTape(persistent=True) as tape:",
            "    y = np.exp(x).sum()",
            "tape.gradient(y, x)",
        )
    )
    exp = next(place for place in facts.places.values() if place.name == "exp")
    assert exp.values is not None
    assert (exp.values.low, exp.values.high) == pytest.approx((math.exp(1), math.exp(2)))
    assert exp.saved == 16


def test_spread_counts_what_is_not_finite() -> None:
    """NaN and infinity are counted apart, and the rest is measured without them."""
    spread = Spread.of(np.array([1.0, math.nan, 3.0, math.inf]))
    assert spread is not None
    assert (spread.low, spread.mean, spread.high, spread.bad) == (1.0, 2.0, 3.0, 2)
    assert Spread.of("text") is None
    assert Spread.of(np.zeros(0)) is None


def test_operations_with_several_results() -> None:
    """A gradient through an operation with several results arrives at its source."""
    text = [
        "a = gt.Variable(np.array([[2.0, 0.5], [0.5, 1.0]]))",
        "with gt.GradientTape(persistent=True) as tape:",
        "    values, vectors = np.linalg.eigh(a)",
        "    y = values.sum() + vectors[0, 0]",
        "g = tape.gradient(y, a)",
    ]
    space = run(*text)
    (source,) = facts_of(space).sources
    assert source.gradient is not None
    assert source.gradient.norm == pytest.approx(float(np.linalg.norm(space["g"].numpy())))


def test_birthplace_of_a_nan_going_back() -> None:
    """The operation whose rule turns a finite gradient into NaN is marked, and a verdict names its line."""
    space = run(
        "x = gt.Variable([0.0, 4.0])",
        "with gt.GradientTape(persistent=True) as tape:",
        "    root = np.sqrt(x)",
        "    y = np.where(x > 0, root, 0.0).sum()",
        "tape.gradient(y, x)",
    )
    report = of_tape(space["tape"])
    assert [place.name for place in report.gradients[0].places.values() if place.birth] == ["sqrt"]
    assert any(
        problem.code.startswith("GT40") and problem.main and problem.main.line == 3 for problem in report.problems
    )
    assert "NaN born going back" in report.to_html()


def test_birthplace_of_a_nan_going_forward() -> None:
    """The first operation that makes an infinity of finite numbers is marked, not those that inherit it."""
    facts = facts_of(
        run(
            "x = gt.Variable([0.0, 1.0])",
            "with gt.GradientTape(persistent=True) as tape:",
            "    logs = np.log(x)",
            "    y = np.exp(logs * 2.0).sum()",
            "tape.gradient(y, x)",
        )
    )
    assert [(place.name, place.birth) for place in facts.places.values() if place.birth == "forward"] == [
        ("log", "forward")
    ]


# -- folding


def test_a_loop_is_one_node() -> None:
    """A line that ran a thousand times is one node that says so, and knows that it feeds itself."""
    folded = fold(facts_of(run(LOOP)))
    (body,) = [group for group in folded.groups if group.count == 1000]
    assert body.label == "h = h * w"
    assert body.carried is not None
    assert len(folded.groups) == 4
    assert "1 000" in Report("t", [facts_of(run(LOOP))]).to_html()


def test_a_loop_keeps_the_sizes_of_its_steps() -> None:
    """Of a thousand steps enough sizes are kept to see the gradient shrink, the last step first."""
    folded = fold(facts_of(run(LOOP)))
    (body,) = [group for group in folded.groups if group.count == 1000]
    sizes = body.result.sizes
    assert 30 < len(sizes) < 200
    assert sizes == sorted(sizes, reverse=True)


def test_memory_does_not_grow_with_the_steps() -> None:
    """Ten times as many steps give no more places and no more edges."""
    short = facts_of(run(LOOP.replace("1000", "100")))
    long = facts_of(run(LOOP))
    assert (len(short.places), len(short.edges)) == (len(long.places), len(long.edges))


def test_many_lines_are_folded_by_function() -> None:
    """More lines than can be drawn become a few nodes, and the page stays small."""
    body = "".join(f"    h = h * {1 + i / 1000} + x\n" for i in range(400))
    text = [
        "def deep(x):",
        "    h = x",
        f"{body}",
        "    return h",
        "x = gt.Variable(1.0)",
        "with gt.GradientTape(persistent=True) as tape:",
        "    y = deep(x)",
        "tape.gradient(y, x)",
    ]
    report = of_tape(run(*text)["tape"])
    folded = fold(report.gradients[0])
    assert [group.label for group in folded.groups] == ["x", "deep()"]
    assert len(by_line(report.gradients[0]).groups) > GROUPS_DRAWN
    assert len(report.to_html()) < 1_000_000


def test_ten_thousand_operations_fit_in_a_small_page() -> None:
    """Ten thousand operations on as many lines are folded and capped: the page stays well below 5 MB."""
    body = "".join(f"    h = np.sin(h)  # {i}\n" for i in range(10_000))
    text = [
        "def deep(h):",
        f"{body}",
        "    return h",
        "x = gt.Variable(np.ones(2))",
        "with gt.GradientTape(persistent=True) as tape:",
        "    y = deep(x).sum()",
        "tape.gradient(y, x)",
    ]
    report = of_tape(run(*text)["tape"])
    assert report.gradients[0].operations == 10_001
    assert len(report.to_html()) < 1_000_000


def test_many_leaves_are_folded() -> None:
    """Hundreds of parameters made on one line are a few nodes, and every one is in the table up to its limit."""
    text = [
        "ws = [gt.Variable(float(i + 1)) for i in range(300)]",
        "with gt.GradientTape(persistent=True) as tape:",
        "    y = sum(w * w for w in ws)",
        "tape.gradient(y, ws)",
    ]
    report = of_tape(run(*text)["tape"])
    assert len(report.gradients[0].sources) == 300
    assert len(fold(report.gradients[0]).groups) < 40
    assert "100 more sources" in report.to_html()


# -- cuts and constants


CUTS = """
a, b, c = gt.Variable([1.0, 2.0]), gt.Variable([1.0, 2.0]), gt.Variable(3.0)
with gt.GradientTape(persistent=True) as tape:
    kept = a * 2.0
    fixed = gt.stop_gradient(kept)
    loss = (fixed * b).sum()
    print(loss.item(), file=open("/dev/null", "w"))
tape.gradient(loss, [a, b, c])
"""


def test_cuts_are_found_and_drawn() -> None:
    """The line that left the tape is cut, what is behind it is constant, and the edge is drawn cut."""
    report = of_tape(run(CUTS)["tape"])
    states = {group.label: group.state for group in fold(report.gradients[0]).groups}
    assert states["fixed = gt.stop_gradient(kept)"] == "cut"
    assert states["kept = a * 2.0"] == "constant"
    assert states["loss = (fixed * b).sum()"] == "flows"
    assert states[".item()"] == "constant"
    page = report.to_html()
    assert 'class="edge cut"' in page
    assert 'class="edge left"' in page


def test_missing_gradients_have_a_reason() -> None:
    """Each source without a gradient has the verdict that `why` gives, in the table and among the verdicts."""
    report = of_tape(run(CUTS)["tape"])
    reasons = {source.name: source.reason and source.reason.code for source in report.gradients[0].sources}
    assert reasons == {"a": "GT208", "b": None, "c": "GT202"}
    assert {"GT208", "GT202"} <= {problem.code for problem in report.problems}


def test_a_condition_is_not_a_cut() -> None:
    """The condition of `where` only steers: the line flows."""
    folded = fold(
        facts_of(
            run(
                "x = gt.Variable([1.0, -2.0])",
                "with gt.GradientTape(persistent=True) as tape:",
                "    y = np.where(x > 0, x, 0.0).sum()",
                "tape.gradient(y, x)",
            )
        )
    )
    assert [group.state for group in folded.groups] == ["flows", "flows"]


def test_zero_gradients_are_told_from_none() -> None:
    """A gradient that arrives and is zero everywhere is its own state."""
    report = of_tape(
        run(
            "x = gt.Variable([1.0, 2.0])",
            "with gt.GradientTape(persistent=True) as tape:",
            "    y = (x * 0.0).sum()",
            "tape.gradient(y, x)",
        )["tape"]
    )
    (leaf,) = [group for group in fold(report.gradients[0]).groups if group.kind == "leaf"]
    assert leaf.state == "zero"
    assert "zero everywhere" in report.to_text()


# -- broadcasts and the colours of dimensions


def test_broadcasts_show_the_sum_that_undoes_them() -> None:
    """A stretched operand is drawn as a fan with the axis that its gradient is summed over."""
    report = of_tape(run(REGRESSION)["tape"])
    (error,) = [group for group in fold(report.gradients[0]).groups if group.label == "error = pred - y"]
    assert error.stretches == [((20, 1), (20, 20))]
    assert "&times; 20, back: &Sigma; axis 1" in report.to_html()


@pytest.mark.parametrize(
    ("small", "large", "axes", "times"),
    [((20, 1), (20, 20), "1", 20), ((3,), (5, 3), "0", 5), ((), (2, 3), "0, 1", 6), ((1, 4), (6, 4), "0", 6)],
)
def test_stretch(small: Any, large: Any, axes: str, times: int) -> None:
    """The axes are those of the result along which the operand is repeated."""
    assert stretch(small, large) == (axes, times)


def test_an_accidental_square_shows_one_colour_twice() -> None:
    """Axes of one length have one colour; axes of length 1 have none."""
    dimensions = Dimensions([(20, 1), (20, 20), (3, 1)])
    chips = re.findall(r'class="axis( d\d)?"', dimensions.chips((20, 20)))
    assert len(chips) == 2
    assert chips[0] == chips[1] != ""
    assert 'class="axis"' in dimensions.chips((1,))


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colours", COLOURS)
def test_dimensions_are_readable(colours: tuple[str, str, str, str]) -> None:
    """The text of each coloured length stands out from its ground by 4.5 to 1, in the light and in the dark."""
    assert _contrast(colours[0], colours[1]) >= 4.5
    assert _contrast(colours[2], colours[3]) >= 4.5


def test_the_style_sheet_is_readable() -> None:
    """Every colour that text has stands out from paper, sheet and wash by 4.5 to 1, in the light and in the dark."""
    style = (Path(gt.__file__).parent / "explain" / "report" / "style.css").read_text()
    themes = re.findall(r":root(?:\[data-theme=\"dark\"\])? \{(.*?)\}", style, re.DOTALL)[:2]
    assert len(themes) == 2
    for theme in themes:
        colours = dict(re.findall(r"--(\w+): (#\w{6})", theme))
        for ground in ("paper", "sheet", "wash"):
            for ink in set(colours) - {
                "paper",
                "sheet",
                "wash",
                "line",
                "mark",
                "hit",
                "edge",
                "focus",
                "rim",
                "warnwash",
            }:
                assert _contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        assert _contrast(colours["warn"], colours["warnwash"]) >= 4.5
        assert _contrast(colours["ink"], colours["hit"]) >= 4.5
        assert _contrast(colours["sheet"], colours["warn"]) >= 4.5


# -- layout


def test_layers_go_down() -> None:
    """Every edge leads to a lower layer, and nodes of a layer do not touch."""
    edges = [(0, 2), (1, 2), (2, 3), (0, 3), (3, 4), (1, 4), (2, 5), (5, 4)]
    widths = {node: 100.0 + 10 * node for node in range(6)}
    drawing = layout(widths, edges)
    for a, b in edges:
        assert drawing.centres[a][1] + HEIGHT < drawing.centres[b][1]
    for a, b in itertools.combinations(widths, 2):
        (xa, ya), (xb, yb) = drawing.centres[a], drawing.centres[b]
        if ya == yb:
            assert abs(xa - xb) >= (widths[a] + widths[b]) / 2 + GAP_ACROSS - 1e-6
    for (x, y), width in zip(drawing.centres.values(), widths.values(), strict=True):
        assert width / 2 <= x <= drawing.width - width / 2
        assert y < drawing.height


def test_edges_that_lead_back_are_apart() -> None:
    """What a later line hands to an earlier one, in a loop, is drawn beside the layers."""
    drawing = layout({0: 100, 1: 100}, [(0, 1), (1, 0)])
    assert list(drawing.lines) == [(0, 1)]
    assert list(drawing.back) == [(1, 0)]


def test_edges_of_one_node_are_one_bundle() -> None:
    """Long edges from one node share their way until they part, and leave the node at one place."""
    drawing = layout(dict.fromkeys(range(6), 100.0), [(0, 1), (1, 2), (2, 3), (3, 4), (0, 3), (0, 4), (0, 5), (4, 5)])
    first, second, third = (drawing.lines[0, end] for end in (3, 4, 5))
    assert first[:-1] == second[: len(first) - 1] == third[: len(first) - 1]
    assert second[:-1] == third[: len(second) - 1]


def test_the_more_edges_the_thinner() -> None:
    """The widest edge of a graph with many edges is thinner than that of a graph with few."""

    def widest(lines: int) -> float:
        space = run(
            "x = gt.Variable(1.0)",
            "with gt.GradientTape(persistent=True) as tape:",
            "    y = x * 1.0",
            *["    y = y + x * 1.0"] * lines,
            "tape.gradient(y, x)",
        )
        page = of_tape(space["tape"]).to_html()
        return max(map(float, re.findall(r'stroke-width="([\d.]+)"', page)))

    assert 3.0 <= widest(60) < widest(2) / 2


def test_a_chain_is_straight() -> None:
    """Nodes of one chain stand below each other, whatever their widths."""
    drawing = layout({0: 300, 1: 100, 2: 200}, [(0, 1), (1, 2)])
    assert len({round(x, 6) for x, _ in drawing.centres.values()}) == 1


# -- the page


class Checker(HTMLParser):
    """Collects the tags, identifiers and links of a page, and its visible text."""

    VOID = frozenset({"meta", "br", "input", "rect", "path", "circle", "polyline"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            self.attributes.append((tag, name, value))
            if name == "id":
                self.names.append(str(value))
            if name == "href":
                self.links.append(str(value))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag


def check(page: str) -> Checker:
    """The page, parsed; its tags must be closed in order, identifiers be unique, and links lead somewhere in it."""
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    assert len(checker.names) == len(set(checker.names))
    assert [link for link in checker.links if link[1:] not in checker.names] == []
    return checker


@pytest.mark.parametrize("program", [REGRESSION, LOOP, CUTS])
def test_the_page_is_well_formed(program: str) -> None:
    """Tags are closed, identifiers are unique, and every link leads to a place in the page."""
    checker = check(of_tape(run(program)["tape"]).to_html())
    assert {"main", "nav", "header", "footer", "h1", "h2", "svg", "table"} <= set(checker.tags)


def test_the_page_needs_nothing_from_outside() -> None:
    """No attribute and no style names another file or host, and a policy forbids it."""
    page = of_tape(run(CUTS)["tape"]).to_html()
    checker = check(page)
    assert not [row for row in checker.attributes if row[1] in ("src", "srcset", "data", "action")]
    assert not re.search(r"https?:|url\(|@import", page)
    assert "default-src 'none'" in page


def test_verdicts_lead_to_their_line_and_node() -> None:
    """A verdict links to its source line and to its node, and both link back."""
    page = of_tape(run(CUTS)["tape"]).to_html()
    verdict = re.search(r'<li class="verdict warn" id="v0">.*?<p class="links">.*?</p>', page, re.DOTALL)
    assert verdict is not None
    line, node = re.findall(r'href="#(l0-\d+|c0-n\d+)"', verdict[0])
    row = re.search(rf'<tr [^>]*id="{line}".*?</tr>', page)
    card = re.search(rf'<article [^>]*id="{node}".*?</article>', page)
    assert row is not None
    assert card is not None
    assert 'href="#v0"' in row[0]
    assert 'href="#v0"' in card[0]


MARKUP = "<script>alert('x')</script><img src=x onerror=alert(1)>"


def test_markup_of_the_user_is_shown_and_not_executed() -> None:
    """Names, source lines, file names and problems with markup in them come out escaped."""
    text = f"""
v = gt.Variable([1.0, 2.0], name={MARKUP!r})
with gt.GradientTape(persistent=True) as tape:
    y = (v * 2.0).sum()  # </code></td>{MARKUP}
tape.gradient(y, v)
"""
    space = run(text, file=f"/programs/x_{MARKUP}.py".replace("</script>", "<!--").replace("/x", "x"))
    report = of_tape(space["tape"])
    span = Span(next(iter(report.gradients[0].places.values())).location.file, 4, 8, 15, source=f"y = '{MARKUP}'")
    problem = Problem("GT101", MARKUP, [span.labelled(MARKUP)], consequence=MARKUP, fixes=[MARKUP], intent=MARKUP)
    page = Report(f"{report.title} {MARKUP}", report.gradients, [problem]).to_html()
    checker = check(page)
    assert checker.tags.count("script") == 1
    assert "img" not in checker.tags
    assert not [row for row in checker.attributes if row[1].startswith("on")]
    assert "&lt;script&gt;alert" in page


def test_a_source_that_is_not_python_is_shown_plain() -> None:
    """Source that cannot be tokenised, or is gone, is no obstacle."""
    file = "/programs/gone.py"
    space = run(
        "x = gt.Variable(2.0)",
        "with gt.GradientTape(persistent=True) as tape:",
        "    y = x * x",
        "tape.gradient(y, x)",
        file=file,
    )
    text = ["x = (((\n", '"""\n', "    y = x * x\n"]
    linecache.cache[file] = (1, None, text, file)
    check(of_tape(space["tape"]).to_html())
    linecache.cache[file] = (0, None, [], file)
    check(of_tape(space["tape"]).to_html())


# -- which gradient


def test_the_target_can_be_given(tmp_path: Path) -> None:
    """A tape that is not persistent reports before its gradient is taken, and the gradient can still be taken."""
    x = gt.Variable([1.0, 2.0])
    with gt.GradientTape() as tape:
        y = (x * x).sum()
    path = tape.report(tmp_path / "report.html", y, x)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [2.0, 4.0])


def test_without_a_request_the_last_tensor_is_the_target() -> None:
    """A tape that was asked for nothing shows the way from what it recorded last, and says so."""
    space = run("x = gt.Variable(2.0)", "with gt.GradientTape() as tape:", "    y = x * x", "    z = y + 1.0")
    report = of_tape(space["tape"])
    assert report.gradients[0].operations == 2
    assert "No gradient was asked for yet" in report.to_html()


def test_a_spent_tape_says_what_is_missing() -> None:
    """A tape whose recording was freed names the line that freed it and the ways to a full report."""
    space = run("x = gt.Variable(2.0)", "with gt.GradientTape() as tape:", "    y = x * x", "tape.gradient(y, x)")
    report = of_tape(space["tape"])
    page = report.to_html()
    check(page)
    for words in ("not persistent", ":4", "persistent=True", "tape.report(path, target, sources)", "--report"):
        assert words in page
    assert "not known" in report.to_text()


def test_a_spent_tape_still_shows_cuts() -> None:
    """Where the answer was None the structure is kept, so that the cut is drawn and explained."""
    space = run(
        "w, v = gt.Variable([1.0, 2.0]), gt.Variable(2.0)",
        "with gt.GradientTape() as tape:",
        "    level = gt.stop_gradient(w)",
        "    y = (level * v).sum()",
        "tape.gradient(y, [w, v])",
    )
    report = of_tape(space["tape"])
    states = {group.label: group.state for group in fold(report.gradients[0]).groups}
    assert states["level = gt.stop_gradient(w)"] == "cut"
    assert states["v"] == "unknown"
    assert "GT208" in {problem.code for problem in report.problems}


def test_notebooks_show_the_page_in_a_frame() -> None:
    """The value of a cell is text for a terminal and a sandboxed frame for a notebook."""
    bundle = show(run(REGRESSION)["tape"])._repr_mimebundle_()
    assert "norm" in bundle["text/plain"]
    frame = re.fullmatch(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts"[^>]*></iframe>', bundle["text/html"])
    assert frame is not None
    assert frame[1].startswith("&lt;!doctype html&gt;")


# -- a whole script


SCRIPT = """
x = gt.Variable([1.0, 2.0])
for _ in range(6):
    with gt.GradientTape() as tape:
        loss = ((x[:, None] - x) ** 2 + x).sum()
    x.assign_sub(0.01 * tape.gradient(loss, x))
t = gt.tensor([1.0, 2.0], requires_grad=True)
(t * t).sum().backward()
slope = gt.grad(lambda q: q**3)(2.0)
"""


def test_a_collector_sees_every_kind_of_gradient() -> None:
    """Tapes, `.backward()` and `grad` are seen, each line once, with the number of times that it asked."""
    with Collector("script.py") as heard:
        run(SCRIPT)
    assert [facts.calls for facts in heard.gradients] == [6, 1, 1]
    assert [facts.asked.line for facts in heard.gradients if facts.asked] == [5, 7, 8]
    page = heard.report().to_html()
    checker = check(page)
    assert {"picture0", "picture1", "picture2"} <= set(checker.names)
    assert explain_hooks.observers == []


def test_a_collector_hears_problems() -> None:
    """Every problem that is spoken inside is a verdict of the report, also one that ended the script."""
    with Collector() as heard, pytest.raises(gt.ShapeError):
        run("gt.tensor([1.0, 2.0]) + gt.tensor([1.0, 2.0, 3.0])")
    assert [problem.code for problem in heard.report().problems] == ["GT110"]
    check(heard.report().to_html())


def test_a_collector_leaves_errors_to_the_walk() -> None:
    """A rule that fails does so with the message of the gradient itself, and the page says what is missing."""
    program = [
        "@gt.custom_vjp",
        "def wrong(x):",
        "    return x * 2.0",
        "wrong.defvjp(lambda x: (x * 2.0, None), lambda saved, g: (np.ones(7),))",
        "x = gt.Variable([1.0, 2.0])",
        "with gt.GradientTape() as tape:",
        "    y = wrong(x).sum()",
        "tape.gradient(y, x)",
    ]
    with Collector() as heard, pytest.raises(gt.RuleError):
        run(*program)
    assert "RuleError" in heard.gradients[0].missing
    check(heard.report().to_html())


def test_a_collector_changes_no_gradient() -> None:
    """A script gives the same numbers whether somebody listens or not."""
    alone = run(SCRIPT)
    with Collector():
        heard = run(SCRIPT)
    np.testing.assert_array_equal(alone["x"].numpy(), heard["x"].numpy())
    np.testing.assert_array_equal(alone["t"].grad.numpy(), heard["t"].grad.numpy())


def test_a_spent_tape_has_what_a_collector_saw() -> None:
    """While a collector listens, a tape that is not persistent has a full report after its gradient."""
    with Collector():
        space = run(
            "x = gt.Variable([1.0, 2.0])",
            "with gt.GradientTape() as tape:",
            "    y = (x * x).sum()",
            "tape.gradient(y, x)",
        )
        (facts,) = of_tape(space["tape"]).gradients
    assert facts.missing == ""
    assert facts.sources[0].gradient is not None


def test_what_was_warned_of_is_a_verdict() -> None:
    """A tape's report has the verdict that was warned of while it was recorded, without a collector."""
    report = of_tape(run(REGRESSION)["tape"])
    assert "GT101" in {problem.code for problem in report.problems}


def test_write_takes_problems_alone(tmp_path: Path) -> None:
    """A script that asked for no gradient still has a page of its problems."""
    problem = Problem("GT110", "these shapes do not fit", [Span("/programs/none.py", 3, source="a + b")])
    page = write(tmp_path / "report.html", problems=[problem], title="none.py").read_text(encoding="utf-8")
    check(page)
    assert "these shapes do not fit" in page
    assert "none.py" in page


def test_problems_given_twice_are_shown_once(tmp_path: Path) -> None:
    """What the collector heard and what is passed as well is one verdict."""
    with Collector() as heard, pytest.raises(gt.ShapeError):
        run("gt.tensor([1.0, 2.0]) + gt.tensor([1.0, 2.0, 3.0])")
    page = write(tmp_path / "report.html", heard, problems=heard.problems).read_text(encoding="utf-8")
    assert page.count('class="verdict ') == 1


def test_a_tape_shows_itself_in_a_notebook() -> None:
    """A tape as the value of a cell is its report; a new one says that there is nothing to show."""
    assert "norm" in run(REGRESSION)["tape"]._repr_mimebundle_()["text/plain"]
    assert "alive" in of_tape(gt.GradientTape()).gradients[0].missing
