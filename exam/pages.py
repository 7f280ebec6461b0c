"""Writes docs/pytorch.md, docs/tensorflow.md and docs/questions.md from programs: situation, what the library says,
what gradtape says. (docs/jax.md is written and compared by tests/watching/jax/test_page.py.)

    python exam/pages.py torch            write the page of a library, which has to be installed
    python exam/pages.py torch --check    exit status 1 if the page is not what would be written
    python exam/pages.py questions --python torch=/other/bin/python     where one environment does not have them all

Each section of the first two is a faulty program of `exam/LIBRARY/faulty`, each of the last one of `exam/questions`.
They are run twice: as they are, and by `gradtape run`. The texts are what was printed.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import runpy
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


@dataclass
class Page:
    """A page of the documentation: the library, its introduction, and headings with the program of each section."""

    file: str
    title: str
    library: str
    introduction: str
    sections: dict[str, tuple[str, ...]]


PAGES = {
    "torch": Page(
        "pytorch.md",
        "Gradient trouble in PyTorch",
        "PyTorch",
        "`gradtape run train.py` runs a script for PyTorch as `python train.py` does, with the PyTorch that is "
        "installed, and explains what is wrong with its gradients: on stderr, below PyTorch's own messages. The "
        "numbers are the same with and without; watched are the first three gradients of each place (`--watch-steps`), "
        "up to 40 while watching has taken less than half a second in all, and some more when a loss is no longer "
        "finite. In code, `with gt.watch():` does the same; in a notebook "
        "`%%gradtape`, after `%load_ext gradtape`; in tests `pytest --gradtape-strict`.\n\n"
        "Nothing of the program is called twice, with one exception. The `forward`, `setup_context` and `backward` of "
        "a `torch.autograd.Function` are compared with each other (GT320), once for each class and on copies of what "
        "it was called with: one backward and at most 25 forward calls for each of its first four differentiable "
        "arguments, after which the random numbers are as they were. That is done only where their source shows no "
        "side effect: they write to their own variables and to `ctx` only, call functions of PyTorch, NumPy and "
        "`math` or functions of yours of which the same is true, and are given tensors and constants. A function that "
        "counts its calls, prints, or appends to a list is left alone.",
        {
            "The loss goes down, and the model learns nothing": (
                *("broadcast_01", "broadcast_02", "broadcast_52", "residual_01", "keepdims_51"),
            ),
            "A parameter does not train": ("none_01", "none_07", "none_09", "none_06", "none_05", "none_03", "none_60"),
            "The optimiser does not have it": ("optimiser_01", "optimiser_02", "cleared_01"),
            "The loss is NaN": ("nan_01", "nan_03", "nan_04", "nan_06"),
            "The gradient is zero": ("zero_01", "zero_03", "symmetric_01"),
            "A loss of what it does not take": ("loss_input_01", "loss_input_02", "softmax_01"),
            "Shapes do not fit": ("shape_01", "shape_02", "shape_04", "shape_05"),
            "backward raises": ("many_01", "second_01", "second_02", "inplace_01", "seed_01"),
            "Silently wrong": ("inplace_05", "inplace_54", "rule_01"),
        },
    ),
    "tensorflow": Page(
        "tensorflow.md",
        "Gradient trouble in TensorFlow and Keras",
        "TensorFlow",
        "`gradtape run train.py` runs a script for TensorFlow or Keras as `python train.py` does, with the TensorFlow "
        "that is installed, and explains what is wrong with its gradients: on stderr, below TensorFlow's own messages. "
        "The numbers are the same with and without; watched are the first three gradients of each place "
        "(`--watch-steps`), up to 40 while watching has taken less than half a second in all, and some more when a "
        "loss is no longer finite. In code, `with gt.watch():` does the same; in a notebook "
        "`%%gradtape`, after `%load_ext gradtape`; in tests `pytest --gradtape-strict`.",
        {
            "The loss goes down, and the model learns nothing": ("broadcast_01", "broadcast_04", "residual_01"),
            "tape.gradient returns None": (
                *("unwatched_01", "rebound_01", "left_01", "left_02", "outside_01", "late_01", "argmax_01"),
                *("integer_01", "frozen_01", "assigned_01", "stopped_01", "unused_01"),
            ),
            "tape.gradient raises": ("seed_01", "spent_01", "rule_02", "rule_03"),
            "Variables that do not learn": ("optimiser_01", "optimiser_02", "equal_01", "dead_01"),
            "The loss is NaN": ("forward_01", "forward_03", "backward_01", "branch_01"),
            "A loss of what it does not take": ("logits_01", "logits_03", "labels_01", "softmax_01"),
            "Shapes do not fit": ("matmul_01", "elementwise_01", "layer_01", "reshape_01"),
            "Silently wrong": ("rule_01", "keepdims_01"),
        },
    ),
}


def body_of(source: str) -> str:
    """A program of the exam without what it expects and its marks."""
    lines = source.splitlines()
    start = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    kept = re.sub(r"\s+# <- (here|asked)$", "", "\n".join(lines[start:]).strip(), flags=re.MULTILINE)
    return f"# train.py\n{kept}\n"


def cause_of(source: str) -> str:
    """The sentence of the header that names the cause."""
    found = re.search(r"^# cause: (.*)$", source, re.MULTILINE)
    text = found[1] if found else ""
    return f"**{text[:1].upper() + text[1:]}.**"


SETTINGS = {"TF_CPP_MIN_LOG_LEVEL": "3", "COLUMNS": "100", "NO_COLOR": "1"}
interpreters: dict[str, str] = {}
"""For libraries that this interpreter does not have, one that has them."""


def printed(body: str, watched: bool, library: str) -> str:
    """What a program prints on stderr, by itself or watched."""
    with tempfile.TemporaryDirectory() as folder:
        script, errors = Path(folder) / "train.py", Path(folder) / "stderr"
        script.write_text(body, encoding="utf-8")
        if library in interpreters:
            _run_process(folder, errors, watched, interpreters[library])
        else:
            _run_forked(folder, errors, watched, library)
        return errors.read_text(encoding="utf-8").replace(folder + os.sep, "").strip()


def _run_process(folder: str, errors: Path, watched: bool, python: str) -> None:
    """Run the program in a process of its own, with another interpreter."""
    command = [python, *(["-m", "gradtape", "run"] if watched else []), "train.py"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}", **SETTINGS}
    with errors.open("w", encoding="utf-8") as stream:
        subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=stream, check=False)


def _run_forked(folder: str, errors: Path, watched: bool, library: str) -> None:
    """Run the program in a child of this process, which has imported the library already, as that takes long."""
    os.environ.update(SETTINGS)
    importlib.import_module(library)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.chdir(folder)
    with errors.open("w", encoding="utf-8") as stream, open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(stream.fileno(), 2)
        os.dup2(nowhere.fileno(), 1)
        sys.stderr, sys.stdout = os.fdopen(2, "w"), os.fdopen(1, "w")
        try:
            if watched:
                importlib.import_module("gradtape.commands").main(["run", "train.py"])
            else:
                runpy.run_path("train.py", run_name="__main__")
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(0)


def own_message(text: str) -> str:
    """The library's own words: the last lines of a traceback from its exception on, or its warnings."""
    lines = [re.sub(r"^.*/site-packages/", "", line) for line in text.splitlines()]
    starts = [i for i, line in enumerate(lines) if re.match(r"^[\w.]*(Error|Exception)\b", line)]
    kept = lines[starts[-1] :] if starts else [line for line in lines if "Warning:" in line]
    return "\n".join(kept[:8])


def explanations(text: str) -> str:
    """What gradtape says in the output of `gradtape run`, without what the library and Python print."""
    found: list[list[str]] = []
    is_ours = False
    for line in text.splitlines():
        if re.match(r"(\w+: )?\[GT\d{3}\]", line):
            is_ours = True
            found.append([])
        elif not line.startswith("  "):
            is_ours = False
        if is_ours:
            found[-1].append(line)
    return "\n\n".join("\n".join(block) for block in found)


def section_of(source: str, library: str, called: str) -> list[str]:
    """A program, what its library says, and what gradtape says."""
    body = body_of(source)
    said = own_message(printed(body, False, library))
    explained = explanations(printed(body, True, library))
    return [
        f"```py\n{body}```",
        f"{called} says:\n\n```text\n{said}\n```" if said else f"{called} says nothing.",
        f"`gradtape run` adds:\n\n```text\n{explained}\n```" if explained else "`gradtape run` adds nothing.",
    ]


QUESTIONS = (
    *("tensor_target", "one_value_tensor", "reshape_error", "gradient_is_none", "backward_on_a_vector"),
    "keras_custom_loss",
)
QUESTIONS_INTRODUCTION = (
    "The questions that gradtape was begun for, each as a program for the library that it is asked about, with what "
    "that library prints and what `gradtape run` adds."
)


def questions() -> str:
    """The page of questions."""
    parts = ["# The questions", QUESTIONS_INTRODUCTION]
    for name in QUESTIONS:
        source = (HERE / "questions" / f"{name}.py").read_text(encoding="utf-8")
        header = " ".join(line.lstrip("# ") for line in source.splitlines() if line.startswith("#"))
        found = re.fullmatch(r"library: (\w+) question: (.*?) answer: (.*)", header)
        if found is None:
            raise ValueError(f"exam/questions/{name}.py: its first lines have to be library, question and answer")
        library, question, answer = found.groups()
        parts += [f"## {question}", answer, *section_of(source, library, PAGES[library].library)]
    return "\n\n".join(parts) + "\n"


def page_of(name: str) -> str:
    """The text of a page."""
    page = PAGES[name]
    parts = [f"# {page.title}", page.introduction]
    for heading, programs in page.sections.items():
        parts.append(f"## {heading}")
        for program in programs:
            source = (HERE / name / "faulty" / f"{program}.py").read_text(encoding="utf-8")
            parts += [cause_of(source), *section_of(source, name, page.library)]
    return "\n\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", choices=[*PAGES, "questions"])
    parser.add_argument("--python", action="append", default=[], metavar="LIBRARY=PATH", help="an interpreter with it")
    parser.add_argument(
        "--check", action="store_true", help="do not write; exit status 1 if the page is not up to date"
    )
    options = parser.parse_args()
    interpreters.update(pair.split("=", 1) for pair in options.python)
    if options.page == "questions":
        file, text = ROOT / "docs" / "questions.md", questions()
    else:
        file, text = ROOT / "docs" / PAGES[options.page].file, page_of(options.page)
    if options.check:
        is_same = file.is_file() and file.read_text(encoding="utf-8") == text
        print(f"{file.name} is {'' if is_same else 'not '}up to date")
        return int(not is_same)
    file.write_text(text, encoding="utf-8")
    print(f"{file.name}: {len(text.splitlines())} lines")
    return 0


if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # in place of this folder, whose sub-folders have the names of the libraries
    sys.exit(main())
