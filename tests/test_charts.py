"""Line charts as inline SVG."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree

import pytest

from gradtape.charts import Axis, line_chart, runs, spark


def test_a_chart_has_title_axes_and_words() -> None:
    """A chart is well-formed, and has its title, the names of its axes, and a text for screen readers."""
    points = [(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]
    drawing = line_chart({"loss": points, "val": points}, title="Training", x="epoch", y="loss")
    root = ElementTree.fromstring(drawing)
    texts = [element.text for element in root.iter("text")]
    assert {"Training", "epoch", "loss", "val"} <= set(texts)
    assert root.attrib["aria-label"] == "Training: loss from 3 to 1, val from 3 to 1"


def test_a_line_is_broken_where_it_is_not_finite() -> None:
    """NaN and infinity are gaps; without any finite point there is no chart."""
    assert len(runs([(1, 1.0), (2, math.nan), (3, 1.0), (4, 2.0)])) == 2
    assert line_chart({"loss": [(1, math.nan)]}, title="t", x="x", y="y") == ""
    assert "<circle" in line_chart({"loss": [(1, 2.0)]}, title="t", x="x", y="y")
    assert spark([1.0, math.nan, 1.0, 0.5], 0.1, 1.0).count("<polyline") == 2


@pytest.mark.parametrize("values", [[1e-9, 1.0], [-5.0, 3.0], [2.0, 2.0], [0.0, 1e-12], [1e8, 3e8]])
def test_ticks_are_within_the_axis(values: list[float]) -> None:
    """There are at least two ticks, all within the axis, and few enough to be read."""
    axis = Axis(values, 0.0, 100.0, may_be_log=True)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 11
    assert all(-1e-6 <= axis(tick) <= 100.0 + 1e-6 for tick in ticks)


def test_markup_is_escaped() -> None:
    """Names with markup in them are text."""
    drawing = line_chart({"<b>": [(1, 1.0)], "c": [(1, 2.0)]}, title='"><script>', x="<i>", y="&")
    assert not re.search(r"<(b|i|script)>", drawing)
    ElementTree.fromstring(drawing)


def test_ticks_that_are_close_have_different_labels() -> None:
    """A loss that falls from 742.3 to 740.6 has no label twice."""
    drawn = line_chart({"loss": [(1, 742.3), (2, 740.6)]}, title="Training", x="step", y="loss")
    ticks = re.findall(r'text-anchor="end"[^>]*>([^<]+)</text>', drawn)
    assert len(ticks) > 2
    assert len({*ticks}) == len(ticks)
