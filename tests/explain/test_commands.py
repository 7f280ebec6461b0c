"""The command `gradtape`: run, why and check, as a user types them and as `main` is called."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gradtape.commands import main, terminal
from gradtape.commands.run import separated
from gradtape.explain.emit import policy
from gradtape.explain.model.codes import CODES
from gradtape.explain.model.problem import Problem

ROOT = Path(__file__).resolve().parents[2]

ROUNDED = """\
import sys

import gradtape as gt

w = gt.Variable([0.4, 1.6])
for _ in range(3):
    with gt.GradientTape() as tape:
        loss = gt.round(w).sum()
    print("gradient", tape.gradient(loss, w), sys.argv[1:])
"""
CLASH = """\
import numpy as np

import gradtape as gt


def layer(x):
    return x @ np.ones((4, 2))


layer(gt.Variable(np.ones((5, 3))))
"""
FINE = """\
import gradtape as gt

x = gt.Variable(3.0)
with gt.GradientTape() as tape:
    y = x * x
print(tape.gradient(y, x))
"""


def gradtape(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """`python -m gradtape` with these arguments, in a process of its own."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "gradtape", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, **environment},
        check=False,
    )


@dataclass
class Done:
    """What came of a command that ran in this process."""

    returncode: int
    stdout: str
    stderr: str


Call = Callable[..., Done]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command in this process, which is quicker; what it does to the interpreter is undone."""

    def called(*arguments: object, cwd: Path | None = None) -> Done:
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("default")  # not an error, as in the other tests
            patch.setattr(sys, "path", sys.path[:])
            for name in ("model", "broken"):
                patch.delitem(sys.modules, name, raising=False)
            if cwd is not None:
                patch.chdir(cwd)
            try:
                status = main([str(argument) for argument in arguments])
            except SystemExit as stopped:  # argparse
                status = int(stopped.code or 0)
            for name in ("model", "broken"):
                sys.modules.pop(name, None)
        captured = capfd.readouterr()
        return Done(status, captured.out, captured.err)

    return called


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A file to write a script into."""
    return tmp_path / "train.py"


# -- run


def test_warning_is_explained_once_on_stderr(script: Path) -> None:
    """What is found is printed once for its place, on stderr, with a summary; the script's output stays its own."""
    script.write_text(ROUNDED)
    done = gradtape("run", script, "--steps", 10)
    assert done.returncode == 0
    assert done.stdout == "gradient None ['--steps', '10']\n" * 3
    assert done.stderr.count("GradientWarning: [GT201] every gradient asked for is None") == 1
    assert "train.py:8   loss = gt.round(w).sum()" in done.stderr
    assert done.stderr.splitlines()[-1] == "gradtape: train.py: 1 problem found (GT201)"
    assert "\033" not in done.stderr


def test_strict_fails_if_something_was_found(call: Call, script: Path) -> None:
    """--strict gives status 1 for a finding and 0 without one, wherever the option stands."""
    script.write_text(ROUNDED)
    assert call("run", "--strict", script).returncode == 1
    assert call("run", script, "--strict").returncode == 1
    script.write_text(FINE)
    done = call("run", script, "--strict")
    assert (done.returncode, done.stdout) == (0, "6.0\n")
    assert done.stderr == "gradtape: train.py: nothing found\n"


def test_error_is_explained_with_the_lines_of_the_user(call: Call, script: Path) -> None:
    """An error that ends the script shows the user's frames, none of gradtape's, and the explanation."""
    script.write_text(CLASH)
    done = call("run", script)
    assert done.returncode == 1
    assert f'File "{script}", line 10, in <module>' in done.stderr
    assert f'File "{script}", line 7, in layer' in done.stderr
    assert "ShapeError: [GT111]" in done.stderr
    assert str(ROOT / "gradtape") not in done.stderr
    assert "runpy" not in done.stderr
    assert done.stderr.count("[GT111]") == 1
    assert "1 problem found (GT111)" in done.stderr


def test_other_errors_keep_their_traceback(call: Call, script: Path) -> None:
    """An error that is not gradtape's is printed as Python prints it, from the script on, with its cause."""
    script.write_text("try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('b') from error\n")
    done = call("run", script)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == f'  File "{script}", line 2, in <module>'
    assert "KeyError: 'a'" in lines
    assert "ValueError: b" in lines
    assert "runpy" not in done.stderr
    assert lines[-1] == "gradtape: train.py: nothing found"


def test_locked_array_is_explained(call: Call, script: Path) -> None:
    """NumPy's own refusal to write to a saved array is printed with our explanation."""
    script.write_text(
        "import numpy as np\nimport gradtape as gt\n\ndata = np.ones(3)\nw = gt.Variable(np.ones(3))\n"
        "with gt.GradientTape() as tape:\n    loss = (w * data).sum()\n    data[0] = 2.0\n"
    )
    done = call("run", script)
    assert done.returncode == 1
    assert "ValueError: assignment destination is read-only\n[GT309]" in done.stderr
    assert "1 problem found (GT309)" in done.stderr


def test_what_the_script_handles_is_counted_only(call: Call, script: Path) -> None:
    """Errors that are caught and warnings that are recorded are neither printed nor a failure; ignored ones are."""
    script.write_text(
        "import warnings\n\nimport gradtape as gt\n\n"
        "try:\n    gt.tensor([1.0, 2.0]) + gt.tensor([1.0, 2.0, 3.0])\nexcept gt.ShapeError:\n    pass\n"
        "w = gt.Variable([0.4])\n\n\ndef ask():\n    with gt.GradientTape() as tape:\n        y = gt.round(w)\n"
        "    tape.gradient(y, w)\n\n\n"
        "with warnings.catch_warnings(record=True):\n    warnings.simplefilter('always')\n    ask()\n"
    )
    done = call("run", script, "--strict")
    assert (done.returncode, done.stderr) == (0, "gradtape: train.py: nothing found, 2 handled by the script\n")
    script.write_text("import warnings\n\nwarnings.filterwarnings('ignore')\n" + ROUNDED)
    done = call("run", script, "--strict")
    assert done.returncode == 1
    assert "[GT201]" in done.stderr


def test_warning_of_another_thread_is_heard(script: Path) -> None:
    """What is found in a thread that the script starts is printed and counted as well."""
    body = ROUNDED.replace("import sys", "import sys\nimport threading").replace("\nw = ", "\n\ndef work():\n  w = ")
    head, _, rest = body.partition("  w = ")
    indented = "  w = " + rest.replace("\n", "\n  ").rstrip() + "\n"
    script.write_text(head + indented + "\n\nthread = threading.Thread(target=work)\nthread.start()\nthread.join()\n")
    done = gradtape("run", script, "--strict")
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("GradientWarning: [GT201]") == 1


def test_other_warnings_are_shown_by_python(script: Path) -> None:
    """A warning that is not gradtape's is printed as ever."""
    script.write_text("import warnings\n\nwarnings.warn('careful')\n")
    done = gradtape("run", script)
    assert "UserWarning: careful" in done.stderr
    assert "nothing found" in done.stderr


def test_warnings_of_a_watched_library_keep_their_place(script: Path, tmp_path: Path) -> None:
    """Python names the line of the library that warned, and so does a run in which its folder is registered."""
    folder = tmp_path / "installed"
    folder.mkdir()
    (folder / "noisy.py").write_text("import warnings\n\n\ndef work():\n    warnings.warn('careful')\n")
    script.write_text(
        "import sys\nfrom gradtape.core.location import register_library_folder\n"
        f"sys.path.insert(0, {str(folder)!r})\nregister_library_folder({str(folder)!r})\n"
        "import noisy\nnoisy.work()\n"
    )
    done = gradtape("run", script)
    assert f"{folder / 'noisy.py'}:5: UserWarning: careful" in done.stderr


def test_warning_that_was_shown_for_a_line_is_not_shown_again(script: Path, tmp_path: Path) -> None:
    """A library that warns its caller is called by gradtape, and then by the script, at the same line: one warning."""
    folder = tmp_path / "installed"
    folder.mkdir()
    (folder / "losses.py").write_text(
        "import warnings\n\n\ndef loss(x):\n    warnings.warn('the sizes differ', stacklevel=2)\n    return x * x\n"
    )
    script.write_text(
        "import sys\nimport gradtape as gt\nfrom gradtape.core.location import register_library_folder\n"
        f"sys.path.insert(0, {str(folder)!r})\nregister_library_folder({str(folder)!r})\n"
        "import losses\nfor call in (gt.grad(losses.loss), losses.loss, losses.loss):\n    call(2.0)\n"
    )
    done = gradtape("run", script)
    assert done.stderr.count("the sizes differ") == 1
    assert f"{script}:8: UserWarning" in done.stderr


def test_quiet_prints_errors_only(call: Call, script: Path, tmp_path: Path) -> None:
    """--quiet leaves out findings and the summary; the JSON has them, and an error is still explained."""
    script.write_text(ROUNDED)
    done = call("run", "--quiet", script, "--json", tmp_path / "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads((tmp_path / "out.json").read_text())["problems"]) == 1
    script.write_text(CLASH)
    assert call("run", "--quiet", script).stderr.count("[GT111]") == 1


def test_json_has_all_problems(call: Call, script: Path, tmp_path: Path) -> None:
    """The JSON has every problem as data, and how it was said; `-` is stdout."""
    script.write_text(ROUNDED + "try:\n    w + [1.0, 2.0, 3.0]\nexcept gt.ShapeError:\n    pass\n" + CLASH)
    out = tmp_path / "out.json"
    done = call("run", script, f"--json={out}", "word")
    data = json.loads(out.read_text())
    assert (data["script"], data["arguments"], data["status"]) == (str(script), ["word"], 1)
    said = [(problem["code"], problem.pop("voice")) for problem in data["problems"]]
    assert said == [("GT201", "warning"), ("GT110", "handled"), ("GT111", "error")]
    problems = [Problem.from_json(problem) for problem in data["problems"]]
    assert problems[0].main is not None
    assert problems[0].main.line == 8
    assert done.returncode == 1
    script.write_text(FINE)
    assert json.loads(call("run", script, "--json", "-", "--quiet").stdout.partition("\n")[2])["problems"] == []


def test_report_is_written(script: Path, tmp_path: Path) -> None:
    """--report writes one page of HTML that shows the script's gradient and what was found."""
    script.write_text(FINE + ROUNDED)
    out = tmp_path / "out.html"
    done = gradtape("run", script, "--report", out)
    assert done.returncode == 0, done.stderr
    text = out.read_text()
    assert text.startswith("<!doctype html>")
    assert "GT201" in text
    assert f"the report is in {out}" in done.stderr


def test_script_runs_as_with_python(tmp_path: Path) -> None:
    """The script is __main__, sees its arguments and its neighbours, and everything is put back afterwards."""
    (tmp_path / "neighbour.py").write_text("VALUE = 42\n")
    script = tmp_path / "main.py"
    script.write_text(
        "import sys\nimport neighbour\n\nprint(__name__, neighbour.VALUE, sys.argv)\n"
        "print(sys.modules['__main__'].__dict__ is globals(), __file__)\n"
    )
    done = gradtape("run", "main.py", "--", "--strict", "--json", "x", cwd=tmp_path)
    assert done.stdout == f"__main__ 42 ['main.py', '--strict', '--json', 'x']\nTrue {script}\n"
    before = sys.argv[:], sys.path[:], sys.modules["__main__"], sys.excepthook
    assert main(["run", str(script), "--quiet"]) == 0
    assert (sys.argv, sys.path, sys.modules["__main__"], sys.excepthook) == before


@pytest.mark.parametrize(
    ("statement", "status", "says"),
    [
        ("sys.exit()", 0, ""),
        ("sys.exit(7)", 7, ""),
        ("sys.exit('no data')", 1, "no data\n"),
        ("raise KeyboardInterrupt", 130, "gradtape: train.py was interrupted\n"),
    ],
)
def test_exit_status_of_the_script_is_passed_on(
    call: Call, script: Path, statement: str, status: int, says: str
) -> None:
    """sys.exit and Ctrl-C end the command as they would end the script."""
    script.write_text(f"import sys\n\n{statement}\n")
    done = call("run", "--quiet", script)
    assert (done.returncode, done.stderr) == (status, says)


def test_interrupt_from_outside(script: Path) -> None:
    """A real SIGINT ends the run with status 130, and what was found until then is in the JSON."""
    heeded = (
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # also where a job in the background ignores it
    )
    script.write_text(ROUNDED + f"import os, signal\n{heeded}os.kill(os.getpid(), signal.SIGINT)\n")
    done = gradtape("run", script, "--json", script.with_suffix(".json"))
    assert done.returncode == 128 + signal.SIGINT
    assert len(json.loads(script.with_suffix(".json").read_text())["problems"]) == 1


def test_notes_are_printed_at_the_end(script: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What is only noted is printed behind everything else, and does not count under --strict."""
    script.write_text(
        "from gradtape.explain.model.problem import Problem\nfrom gradtape.explain.emit.policy import report\n\n"
        "report(Problem('GT502', 'averaged twice'))\nprint('done')\n"
    )
    assert main(["run", "--strict", str(script)]) == 0
    policy.notes(clear=True)
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "note: [GT502] averaged twice"
    assert lines[-1] == "gradtape: train.py: nothing found, 1 note"


def test_health_of_gradients_is_noted(call: Call, script: Path) -> None:
    """`run` looks at healthy gradients too, and notes what may be of interest."""
    script.write_text(
        "import numpy as np\nimport gradtape as gt\n\nx = gt.Variable(np.linspace(-30.0, 30.0, 8))\n"
        "with gt.GradientTape() as tape:\n    y = np.tanh(x).sum()\ntape.gradient(y, x)\n"
    )
    done = call("run", script)
    policy.notes(clear=True)
    assert "note: [GT503]" in done.stderr
    assert done.stderr.splitlines()[-1] == "gradtape: train.py: nothing found, 1 note"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run"], "required: script"),
        (["run", "missing.py"], "missing.py is not there; give the path of a Python script"),
        (["run", "."], ". is a folder"),
        (["run", "--stict", "train.py"], "unrecognized arguments: --stict"),
        (["run", "train.py", "--report", "none/out.html"], "none/out.html cannot be written, there is no folder none"),
        (["run", "train.py", "--json", "."], ". cannot be written: Is a directory"),
        (["why", "GT999"], "'GT999' is no code, and no page has these words; the nearest are\n  GT"),
        (["check", "model"], "write module:function"),
        (["check", "missing.py:f"], "there is no file missing.py"),
        (["check", "missing_module:f"], "there is no module missing_module"),
        (["check", "model.py:absent"], "model.py has no absent; it has leaky, loss, square, wrong"),
        (["check", "model.py:NUMBER"], "is no function, but of type int"),
        (["check", "model.py:square"], "what are the arguments of square(x)?"),
        (["check", "model.py:square", "--shape", "a"], "write whole numbers with commas between, such as 8,3"),
        (["check", "model.py:square", "--shape", "-1"], "these numbers are not negative"),
        (["check", "model.py:square", "--args", "absent"], "NameError: name 'absent' is not defined"),
        (["check", "model.py:square", "--args", "1.0", "--shape", "3"], "were both given"),
        (["fly"], "invalid choice: 'fly'"),
        ([], "required: command"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_explained(call: Call, model: Path, arguments: list[str], says: str) -> None:
    """Every way to use the command wrongly gives status 2 and says on stderr what is accepted."""
    (model.parent / "train.py").write_text(FINE)
    done = call(*arguments, cwd=model.parent)
    assert done.returncode == 2, done.stdout + done.stderr
    assert says in done.stderr


def test_options_are_told_from_the_scripts_own() -> None:
    """The options of `run` are taken before and behind the script, the rest and what is behind -- is the script's."""
    assert separated(["run", "a.py", "--steps", "3", "--json", "o", "--strict"]) == [
        *["run", "--json", "o", "--strict", "--", "a.py", "--steps", "3"]
    ]
    assert separated(["run", "--report=r", "a.py", "--", "--strict", "--"]) == [
        *["run", "--report=r", "--", "a.py", "--strict", "--"]
    ]
    assert separated(["run", "--help"]) == ["run", "--help"]
    assert separated(["run"]) == ["run"]


class Terminal:
    """A stream that says whether it is a terminal."""

    def __init__(self, is_terminal: bool) -> None:
        self._is = is_terminal

    def isatty(self) -> bool:
        return self._is


def test_colours_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Colours need a terminal, and neither NO_COLOR nor a dumb one."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert terminal.has_colour(Terminal(True))  # type: ignore[arg-type]
    assert not terminal.has_colour(Terminal(False))  # type: ignore[arg-type]
    monkeypatch.setenv("NO_COLOR", "1")
    assert not terminal.has_colour(Terminal(True))  # type: ignore[arg-type]
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not terminal.has_colour(Terminal(True))  # type: ignore[arg-type]


def on_terminal(*arguments: object, **environment: str) -> str:
    """What the command writes when its stdout and stderr are a terminal."""
    import pty

    outer, inner = pty.openpty()
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "TERM": "xterm", **environment}
    command = [sys.executable, "-m", "gradtape", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=inner, stderr=inner, env=env)
    os.close(inner)
    pieces = []
    while True:
        try:
            piece = os.read(outer, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        pieces.append(piece)
    process.wait()
    os.close(outer)
    return b"".join(pieces).decode()


def test_terminal_gets_colours_and_progress(script: Path, model: Path) -> None:
    """On a real terminal findings and pages have colours, long work says what it does, and NO_COLOR is heeded."""
    script.write_text(ROUNDED)
    assert "\033[1;31m[GT201]" in on_terminal("run", script)
    assert "\033" not in on_terminal("run", script, NO_COLOR="1")
    assert "\033[1m# GT305" in on_terminal("why", "GT305")
    assert "comparing the derivatives of square" in on_terminal("check", f"{model}:square", "--shape", "3")


# -- why


def test_why_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """`why GT101` prints the page; case and GT do not matter, and several codes give several pages."""
    for word in ("GT101", "gt101", "101"):
        assert main(["why", word]) == 0
        assert capsys.readouterr().out.startswith("# GT101: accidental outer broadcast\n")
    assert main(["why", "GT201", "GT209"]) == 0
    out = capsys.readouterr().out
    assert "# GT201: " in out
    assert "# GT209: " in out


def test_why_lists_all_codes(call: Call) -> None:
    """Without a code every code is listed with its title."""
    done = call("why")
    assert done.returncode == 0
    assert [code for code in CODES if f"  {code}  {CODES[code].title}  (" not in done.stdout] == []


def test_why_finds_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Words that one page has give that page; words that several have give their list."""
    assert main(["why", "grad can be implicitly created only for scalar outputs"]) == 0
    assert capsys.readouterr().out.startswith("# GT307")
    assert main(["why", "No gradients provided"]) == 0
    assert "  GT201  every gradient asked for is None\n" in capsys.readouterr().out


def test_unknown_code_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """A slip is answered on stderr with the codes that look like it."""
    assert main(["why", "GT1O1"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "  GT101  accidental outer broadcast" in captured.err


def test_reader_may_stop_early() -> None:
    """A pipe that is closed before everything was read is no error."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = f"{sys.executable} -m gradtape why | true"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False
    )
    assert done.stderr == ""


# -- check

MODEL = """\
import numpy as np

import gradtape as gt

NUMBER = 3


def square(x):
    return x * x


def leaky(x):
    return x - x.mean(axis=0)


@gt.custom_gradient
def wrong(x):
    return x * x, lambda upstream: upstream * x


def loss(weights, batch):
    return ((batch @ weights) ** 2).mean()
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A module with functions to check."""
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return path


def test_check_passes(model: Path) -> None:
    """A function that is fine gives both reports and status 0."""
    done = gradtape("check", "model:square", "--shape", "4,3", cwd=model.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert "gradcheck of square passed" in done.stdout
    assert "batch audit of square passed: each of 4 examples depends on itself only" in done.stdout


def test_check_finds_leaks_and_wrong_rules(call: Call, model: Path) -> None:
    """A leak between examples and a wrong rule give status 1, each with its line."""
    leaky = call("check", f"{model}:leaky", "--shape", "4,3")
    assert leaky.returncode == 1
    assert "model.py:13   return x - x.mean(axis=0)" in leaky.stdout
    wrong = call("check", f"{model}:wrong", "--args", "np.array([1.0, 2.0])")
    assert wrong.returncode == 1
    assert "model.py:17   def wrong(x):" in wrong.stdout
    assert "wrong derivatives: 4 of 8" in wrong.stdout


def test_check_of_a_scalar_leaves_the_audit_out(call: Call, model: Path) -> None:
    """A loss has no examples: the audit is left out and that is said; `--batch` insists and is refused."""
    arguments = ["check", f"{model}:loss", "--args", "np.ones(3), rng.normal(size=(4, 3))"]
    done = call(*arguments)
    assert done.returncode == 0
    assert "batch audit left out" in done.stdout
    insisted = call(*arguments, "--batch", "1")
    assert insisted.returncode == 1
    assert "do not share their first axis" in insisted.stderr


def test_check_with_parameters(call: Call, model: Path) -> None:
    """`--batch` names the argument that holds the examples; expressions may use names of the module."""
    model.write_text(
        MODEL + "\n\ndef predict(weights, batch):\n    return np.tanh(batch @ weights)\n\n\nW = np.ones(3)\n"
    )
    done = call("check", f"{model}:predict", "--args", "W, rng.normal(size=(4, 3))", "--batch", "1", "--order", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "each of 4 examples" in done.stdout


@pytest.mark.parametrize(
    "example",
    ["example_args = (np.ones((4, 3)),)", "def example_args(rng):\n    return rng.normal(size=(4, 3))"],
)
def test_check_uses_the_examples_of_the_module(call: Call, model: Path, example: str) -> None:
    """Without arguments `example_args` of the module is used, a tuple or a function."""
    model.write_text(MODEL + "\n\n" + example + "\n")
    done = call("check", f"{model}:square")
    assert done.returncode == 0, done.stderr
    assert "each of 4 examples" in done.stdout


def test_check_of_a_function_that_fails(call: Call, model: Path) -> None:
    """An error in the function is explained on stderr with the user's lines only, and gives status 1."""
    done = call("check", f"{model}:loss", "--shape", "2", "--shape", "4,3")
    assert done.returncode == 1
    assert "gradtape: check: loss could not be checked" in done.stderr
    assert "[GT111]" in done.stderr
    assert str(ROOT / "gradtape") not in done.stderr


def test_module_that_lacks_another_says_so(call: Call, model: Path) -> None:
    """A module that cannot be imported because of what it imports is not called missing itself."""
    (model.parent / "broken.py").write_text("import surely_not_there\n")
    done = call("check", "broken:f", cwd=model.parent)
    assert done.returncode == 1
    assert "gradtape: check: broken could not be checked" in done.stderr
    assert "No module named 'surely_not_there'" in done.stderr


# -- help


@pytest.mark.parametrize(
    "arguments", [[], ["run"], ["why"], ["check"]], ids=lambda words: " ".join(words) or "gradtape"
)
def test_help_needs_nothing_else(call: Call, arguments: list[str]) -> None:
    """--help tells examples and the exit codes, in lines that fit a terminal."""
    done = call(*arguments, "--help")
    assert done.returncode == 0
    assert "exit status:" in done.stdout
    assert "  gradtape " in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 90


def test_version(call: Call) -> None:
    """--version tells it."""
    from gradtape import __version__

    assert call("--version").stdout == f"gradtape {__version__}\n"


def test_command_and_plugin_are_installed() -> None:
    """pyproject.toml names a command and a pytest plugin that exist, and the pages are inside the package."""
    import importlib
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["scripts"]["gradtape"].partition(":")
    assert getattr(importlib.import_module(module), name) is main
    assert hasattr(importlib.import_module(project["entry-points"]["pytest11"]["gradtape"]), "pytest_addoption")


def test_report_changes_no_result(call: Call, script: Path, tmp_path: Path) -> None:
    """A script with a checkpoint prints the same gradient with and without --report."""
    script.write_text(
        "import numpy as np\nimport gradtape as gt\n\n"
        "print(gt.grad(lambda x: np.sum(gt.checkpoint(np.tanh)(x * 2.0)))(np.ones(3)))\n"
    )
    plain = call("run", script)
    watched = call("run", script, "--report", tmp_path / "out.html")
    assert (watched.returncode, watched.stdout) == (0, plain.stdout)
