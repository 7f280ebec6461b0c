"""Writes that NumPy refuses because a gradient stands on the array: explained wherever the error surfaces."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain.emit import excepthook
from gradtape.explain.kernel import locked_write

ROOT = Path(__file__).resolve().parents[3]


def refused(write: Any) -> ValueError:
    """The error of NumPy's that a function ends with."""
    with pytest.raises(ValueError, match="read-only") as caught:
        write()
    return caught.value


class TestWhatIsSaid:
    def test_names_both_lines(self) -> None:
        """The line that writes and the line that saved are named, though no block of ours was left."""

        def run() -> None:
            w = gt.tensor([1.0, 2.0], requires_grad=True)
            data = np.array([3.0, 4.0])
            loss = (w * data).sum()
            data[0] = 0.0
            loss.backward()

        error = refused(run)
        found = locked_write.explain_refused_write(error)
        assert found is not None
        assert (found.code, found.title) == ("GT309", "data is locked until its gradient has been taken")
        assert [(span.text, span.label) for span in found.spans] == [
            ("data[0]", "written here"),
            ("w * data", "saved here"),
        ]
        assert error.__notes__ == [f"gradtape: {found}"]

    @pytest.mark.parametrize("how", ["data += 1.0", "np.add(data, 1.0, out=data)", "data.fill(0.0)", "row[0] = 1.0"])
    def test_every_way_to_write(self, how: str) -> None:
        """An augmented assignment, `out=`, a method and a view are refused and explained alike."""
        code = (
            "def run():\n"
            "    data = np.array([3.0, 4.0])\n    loss = w * data\n    row = data[:1]\n"
            f"    {how}\n    return loss\n"
        )
        names: dict[str, Any] = {"np": np, "w": gt.tensor([1.0, 2.0], requires_grad=True)}
        import linecache

        file = f"<written by {how}>"
        linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
        exec(compile(code, file, "exec"), names)
        found = locked_write.explain_refused_write(refused(names["run"]))
        assert found is not None
        assert found.main is not None
        assert found.main.line == 5
        assert found.spans[1].text == "w * data"

    def test_memory_of_a_tensor(self) -> None:
        """What `.numpy()` hands out is told apart from what a rule has saved."""
        x = gt.tensor([1.0, 2.0])
        values = x.numpy()

        def write() -> None:
            values[0] = 5.0

        found = locked_write.explain_refused_write(refused(write))
        assert found is not None
        assert found.title == "values is the memory of a tensor, which only the tensor itself writes to"

    def test_arrays_of_others_are_left_alone(self) -> None:
        """An array that somebody else has made read-only is none of our business."""
        mine = np.ones(2)
        mine.flags.writeable = False

        def write() -> None:
            mine[0] = 5.0

        error = refused(write)
        assert locked_write.explain_refused_write(error) is None
        assert not hasattr(error, "__notes__")

    def test_only_once(self) -> None:
        """An error that has been explained is not explained again."""
        w = gt.tensor([1.0], requires_grad=True)
        data = np.ones(1)
        loss = w * data

        def write() -> None:
            data[0] = 2.0

        error = refused(write)
        assert locked_write.explain_refused_write(error) is not None
        assert locked_write.explain_refused_write(error) is None
        assert len(error.__notes__) == 1
        loss.backward()


class TestWhereItSurfaces:
    SCRIPT = (
        "import numpy as np, gradtape as gt\n"
        "w = gt.tensor([1.0, 2.0], requires_grad=True)\n"
        "data = np.array([3.0, 4.0])\n"
        "loss = (w * data).sum()\n"
        "data[0] = 0.0\n"
    )

    def test_in_a_script(self, tmp_path: Path) -> None:
        """A script that plain `python` runs ends with NumPy's error and our explanation below it."""
        script = tmp_path / "script.py"
        script.write_text(self.SCRIPT)
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, check=False, cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert done.returncode == 1
        assert "ValueError: assignment destination is read-only\ngradtape: [GT309] data is locked" in done.stderr
        assert "script.py:4" in done.stderr

    def test_hook_passes_everything_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whoever showed uncaught errors before still does, and gets errors of all kinds unchanged."""
        shown: list[Any] = []
        monkeypatch.setattr(sys, "excepthook", lambda *given: shown.append(given))
        excepthook.watch()
        error = ValueError("something else")
        sys.excepthook(ValueError, error, None)
        assert shown == [(ValueError, error, None)]
        assert not hasattr(error, "__notes__")

    def test_below_a_cell(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """In a notebook the explanation is displayed after the cell whose error it is."""
        registered: dict[str, Any] = {}
        displayed: list[Any] = []
        shell = SimpleNamespace(events=SimpleNamespace(register=registered.__setitem__))
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
        monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=displayed.append))
        monkeypatch.setattr(sys, "excepthook", sys.excepthook)
        excepthook.watch()
        w, data = gt.tensor([1.0], requires_grad=True), np.ones(1)
        loss = w * data

        def write() -> None:
            data[0] = 2.0

        registered["post_run_cell"](SimpleNamespace(error_in_exec=refused(write)))
        registered["post_run_cell"](SimpleNamespace(error_in_exec=None))
        assert [problem.code for problem in displayed] == ["GT309"]
        loss.backward()
