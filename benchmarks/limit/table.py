"""The table and its totals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

ENOUGH = 4.0
"""How many times the hand-written time a row may take."""

Found = dict[str, dict[str, Any]]


def header(rivals: Sequence[str], compared: bool) -> str:
    """The first two lines of the table."""
    cells = ["workload", "gradtape us"]
    cells += ["before us", "before / now"] if compared else []
    cells += ["C++ us", "ratio", *(f"{rival} us" for rival in rivals), "first call s"]
    cells += [f"{rival} first s" for rival in rivals if rival != "torch"]
    cells += ["memory MB", "C++ MB"]
    return "| " + " | ".join(cells) + " |\n|" + "---|" * len(cells)


def row(name: str, found: Found, rivals: Sequence[str], before: Found | None) -> str:
    """The line of one row."""
    ours, anchor = found["gradtape"], found.get("C++", {})
    cells = [name, _microseconds(ours)]
    if before is not None:
        earlier = before.get("gradtape", {})
        cells += [_microseconds(earlier), _quotient(earlier, ours)]
    cells += [_microseconds(anchor), _quotient(ours, anchor)]
    for rival in rivals:
        ahead = _best(found.get(rival, {})) < _best(ours)
        cells.append(f"**{_microseconds(found.get(rival, {}))}**" if ahead else _microseconds(found.get(rival, {})))
    cells += [_seconds(found.get(each, {})) for each in ("gradtape", *(rival for rival in rivals if rival != "torch"))]
    cells += [_megabytes(ours), _megabytes(anchor)]
    return "| " + " | ".join(cells) + " |"


def totals(results: dict[str, Found], before: dict[str, Found]) -> str:
    """The geometric mean, the rows above the goal, the rows where a rival is ahead, and what went wrong."""
    ratios = {name: ratio(found) for name, found in results.items() if math.isfinite(ratio(found))}
    lines = []
    if ratios:
        mean = _geometric_mean(list(ratios.values()))
        lines.append(f"geometric mean over {len(ratios)} rows: {mean:.2f} times the hand-written time")
        earlier = [
            results[name]["gradtape"]["best"] / before[name]["gradtape"]["best"] for name in ratios if name in before
        ]
        if earlier:
            lines.append(f"geometric mean of now / before over {len(earlier)} of them: {_geometric_mean(earlier):.2f}")
        slow = [f"{name} {r:.1f}" for name, r in sorted(ratios.items(), key=lambda item: -item[1]) if r > ENOUGH]
        lines.append(f"above {ENOUGH:.0f}: {', '.join(slow) or 'none'}")
        weak = [
            f"{name} ({contender} {each['best'] / found['C++']['best']:.2f})"
            for name, found in results.items()
            for contender, each in found.items()
            if name in ratios and each.get("best", math.inf) < found["C++"]["best"]
        ]
        lines.append(f"faster than the anchor, which is suspected of being weak: {', '.join(weak) or 'none'}")
    ahead, later = [], []
    for name, found in results.items():
        ours = found["gradtape"]
        for rival, theirs in found.items():
            if rival in ("gradtape", "C++") or "best" not in theirs or "best" not in ours:
                continue
            if theirs["best"] < ours["best"]:
                ahead.append(f"{name} ({rival} {ours['best'] / theirs['best']:.2f})")
            if rival == "jax" and theirs["first"] < ours["first"]:
                later.append(f"{name} ({ours['first']:.2f} s, jax {theirs['first']:.2f})")
    lines.append(f"a rival is ahead: {', '.join(ahead) or 'nowhere'}")
    lines.append(f"first call later than jax's: {', '.join(later) or 'nowhere'}")
    for name, found in results.items():
        for contender, each in found.items():
            lines += [f"{name}, {contender}: {each[key]}" for key in ("failed", "wrong") if key in each]
    return "\n".join(lines)


def _geometric_mean(numbers: Sequence[float]) -> float:
    return math.exp(sum(math.log(number) for number in numbers) / len(numbers))


def ratio(found: Found) -> float:
    """gradtape's time by that of the hand-written program; infinite or nan without one of them."""
    return _best(found["gradtape"]) / found["C++"]["best"] if "best" in found.get("C++", {}) else math.nan


def _best(each: dict[str, Any]) -> float:
    best: float = each.get("best", math.inf)
    return best


def _microseconds(each: dict[str, Any]) -> str:
    if "best" not in each:
        return "-"
    value = each["best"] * 1e6
    return f"{value:,.0f}".replace(",", " ") if value >= 100 else f"{value:.3g}"


def _quotient(first: dict[str, Any], second: dict[str, Any]) -> str:
    return f"{first['best'] / second['best']:.2f}" if "best" in first and "best" in second else "-"


def _seconds(each: dict[str, Any]) -> str:
    return f"{each['first']:.2f}" if "first" in each else "-"


def _megabytes(each: dict[str, Any]) -> str:
    return f"{each['memory'] / 1e6:.3g}" if each.get("memory") is not None else "-"
