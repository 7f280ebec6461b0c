"""A problem as data: what is wrong, where in the user's code, its effect on the gradient, and what to write instead.

A `Problem` does not depend on the detector that found it. It is rendered as text (a terminal), HTML (a notebook, the
report) and JSON; errors and warnings carry it as `.problem`, and their message is its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gradtape.source_names import name_of_file

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Span:
    """A range of the user's source.

    `source` is the line as it is in the file (all lines, joined by newlines, if the range has several); `column` and
    `end_column` count characters from 0 in its first and its last line, and are None where they are not known.

    >>> span = Span("train.py", 3, 7, 15, source="loss = pred - y")
    >>> span.text, span.place
    ('pred - y', 'train.py:3')
    """

    file: str
    line: int
    column: int | None = None
    end_column: int | None = None
    label: str = ""
    source: str = ""
    end_line: int | None = None

    @property
    def text(self) -> str:
        """The range exactly as it is written; the whole line where columns are not known."""
        if self.column is None or self.end_column is None:
            return self.source.strip()
        lines = self.source.split("\n")
        if len(lines) == 1:
            return self.source[self.column : self.end_column]
        return "\n".join([lines[0][self.column :], *lines[1:-1], lines[-1][: self.end_column]])

    @property
    def place(self) -> str:
        """`file:line`, with the name of the file only."""
        return f"{name_of_file(self.file)}:{self.line}" if self.line else "an unknown line"

    def labelled(self, label: str) -> Span:
        """The same range with another label."""
        return replace(self, label=label)

    def to_json(self) -> dict[str, Any]:
        """The fields as a dictionary of JSON values."""
        return {
            "file": self.file,
            "line": self.line,
            "end_line": self.end_line,
            "column": self.column,
            "end_column": self.end_column,
            "label": self.label,
            "source": self.source,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Span:
        """The span that `to_json` gave `data` of."""
        return cls(**data)


@dataclass(frozen=True)
class Operand:
    """An operand of an operation: its name in the user's code, shape and dtype, and the expression that made it.

    `span` is its range in the main expression. A shape of None means that it is not an array; `dtype` is then the name
    of its type.

    >>> Operand("pred", (200, 1), "float64").describe()
    'pred  (200, 1)'
    """

    name: str
    shape: Shape | None
    dtype: str | None = None
    origin: Span | None = None
    span: Span | None = None

    def describe(self) -> str:
        """Name, shape, and where it came from, in one line."""
        what = str(self.dtype) if self.shape is None else str(self.shape)
        return f"{self.name}  {what}" + (f"  {self.come_from}" if self.come_from else "")

    @property
    def come_from(self) -> str:
        """`from X @ W, train.py:40`: the expression that made it, and its place; empty where it is not known."""
        if self.origin is None:
            return ""
        made = " ".join(self.origin.text.split()) if self.origin.column is not None else ""
        if self.origin.label:
            made = self.origin.label
        if made == self.name or len(made) > 40:
            made = ""
        return f"from {made}, {self.origin.place}" if made else f"from {self.origin.place}"

    def to_json(self) -> dict[str, Any]:
        """The fields as a dictionary of JSON values; shapes are lists."""
        return {
            "name": self.name,
            "shape": None if self.shape is None else list(self.shape),
            "dtype": self.dtype,
            "origin": None if self.origin is None else self.origin.to_json(),
            "span": None if self.span is None else self.span.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Operand:
        """The operand that `to_json` gave `data` of."""
        shape, origin, span = data["shape"], data["origin"], data["span"]
        return cls(
            data["name"],
            None if shape is None else tuple(shape),
            data["dtype"],
            None if origin is None else Span.from_json(origin),
            None if span is None else Span.from_json(span),
        )


class Fix(str):
    """What to write instead: a string with attributes.

    `replaces` is the range of the user's source that it replaces as it is: it is an edit. Without one it is advice.
    `checked` says that the changed expression was evaluated, on shapes or values, and works. An edit that follows from
    how the code is written, and was not evaluated, is made by `source_edit`.

    >>> fix = Fix("pred[:, 0] - y", checked=True)
    >>> fix, fix.checked, fix.is_edit
    ('pred[:, 0] - y', True, False)
    """

    __slots__ = ("checked", "replaces")

    checked: bool
    replaces: Span | None

    def __new__(cls, text: str, checked: bool = False, replaces: Span | None = None) -> Fix:
        fix = super().__new__(cls, text)
        fix.checked = checked
        fix.replaces = replaces
        return fix

    @property
    def is_edit(self) -> bool:
        """Whether it can be put into the user's source as it is."""
        return self.replaces is not None

    def __getnewargs__(self) -> tuple[str, bool, Span | None]:  # type: ignore[override]
        return str(self), self.checked, self.replaces

    def __repr__(self) -> str:
        return str.__repr__(self)

    def to_json(self) -> dict[str, Any]:
        """The fields as a dictionary of JSON values."""
        return {
            "text": str(self),
            "checked": self.checked,
            "replaces": None if self.replaces is None else self.replaces.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Fix:
        """The fix that `to_json` gave `data` of."""
        replaces = data["replaces"]
        return cls(data["text"], data["checked"], None if replaces is None else Span.from_json(replaces))


def source_edit(text: str, replaces: Span) -> Fix:
    """An edit of the user's source that was not evaluated.

    >>> fix = source_edit("total", Span("train.py", 3, 7, 19, source="loss = float(total)"))
    >>> fix, fix.checked, fix.is_edit
    ('total', False, True)
    """
    return Fix(text, False, replaces)


@dataclass(frozen=True)
class Problem:
    """One problem. `spans[0]` is the main range of source; `details` holds more, all of it data that JSON can hold.

    Renderings read these keys of `details`, all optional: `table` (`rows`: pairs of a name and its cells, `marked`:
    the columns that do not fit, `remarks`: a text for a row, by its number), `notes` (sentences), `path` (rows of
    text, op by op), `cause` (the code of the reason behind this one), `size` and such for tools.

    >>> problem = Problem("GT110", "these shapes do not fit: (2,) and (3,)", fixes=["a[:, None] + b"])
    >>> print(problem)
    [GT110] these shapes do not fit: (2,) and (3,)
      fix: a[:, None] + b
      more: gradtape why GT110
    >>> Problem.from_json(problem.to_json()) == problem
    True
    """

    code: str
    title: str
    spans: tuple[Span, ...] = ()
    operands: tuple[Operand, ...] = ()
    consequence: str = ""
    fixes: tuple[Fix, ...] = ()
    intent: str = ""
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __init__(
        self,
        code: str,
        title: str,
        spans: Iterable[Span] = (),
        operands: Iterable[Operand] = (),
        consequence: str = "",
        fixes: Iterable[str] = (),
        intent: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        values = {
            "code": code,
            "title": title,
            "spans": tuple(spans),
            "operands": tuple(operands),
            "consequence": consequence,
            "fixes": tuple(fix if isinstance(fix, Fix) else Fix(fix) for fix in fixes),
            "intent": intent,
            "details": dict(details or {}),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def main(self) -> Span | None:
        """The main span, if there is one."""
        return self.spans[0] if self.spans else None

    @property
    def codes(self) -> tuple[str, ...]:
        """The code, and that of the cause behind it if it has one."""
        cause = self.details.get("cause")
        return (self.code, cause) if cause else (self.code,)

    @property
    def place(self) -> tuple[str, str, int, int]:
        """Code, file, line and column: the key by which each place is reported once."""
        span = self.main
        return (self.code, "", 0, 0) if span is None else (self.code, span.file, span.line, span.column or 0)

    def with_(self, **changes: Any) -> Problem:
        """A copy with some fields changed."""
        return replace(self, **changes)

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, color: bool = False, width: int = 80) -> str:
        """The problem for a terminal, which begins with the code: `[GT110] title`."""
        from gradtape.explain.render.text import render_text

        return render_text(self, color, width)

    def to_html(self) -> str:
        """The problem as one `<article class="gradtape-problem">`, everything in it escaped."""
        from gradtape.explain.render.html import render_html

        return render_html(self)

    def to_json(self) -> dict[str, Any]:
        """The problem as plain data; `Problem.from_json` is the inverse."""
        return {
            "code": self.code,
            "title": self.title,
            "spans": [span.to_json() for span in self.spans],
            "operands": [operand.to_json() for operand in self.operands],
            "consequence": self.consequence,
            "fixes": [fix.to_json() for fix in self.fixes],
            "intent": self.intent,
            "details": dict(self.details),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Problem:
        """The problem that `to_json` wrote."""
        return cls(
            data["code"],
            data["title"],
            [Span.from_json(span) for span in data["spans"]],
            [Operand.from_json(operand) for operand in data["operands"]],
            data["consequence"],
            [Fix.from_json(fix) for fix in data["fixes"]],
            data["intent"],
            data["details"],
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.to_text(), "text/html": self.to_html()}
