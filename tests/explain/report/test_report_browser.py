"""The report in a real browser: it renders, folds, links, works without scripts, and asks the network for nothing.

Chromium is driven over its own debugging pipe. Where there is none (Debian's package is called `chromium`; the variable
CHROMIUM may name another one), these tests are skipped.
"""

from __future__ import annotations

import base64
import itertools
import json
import linecache
import os
import select
import shutil
import struct
import subprocess
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain.report import Collector, write

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = os.environ.get("CHROMIUM") or next((path for path in map(shutil.which, NAMES) if path), None)
PATIENCE = 60  # seconds without a word, after which the browser is taken for dead

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium")

PROGRAM = """
X, y = np.ones((20, 3)) * np.arange(20.0)[:, None] / 20, np.arange(20.0)
W, b = gt.Variable(np.full((3, 1), 0.1), name="<b id=injected>W</b>"), gt.Variable(np.zeros(1))
frozen = gt.Variable(np.ones(3))
with gt.GradientTape() as tape:
    scale = gt.stop_gradient(frozen * 2.0)
    state = X @ W
    for _ in range(50):
        state = np.tanh(state + b)
    error = state - y  # </code><script>document.title = "hacked"</script>
    loss = (error**2).mean() * scale.sum()
gradients = tape.gradient(loss, [W, b, frozen])
"""


class Browser:
    """A page of a headless Chromium, driven over the debugging pipe."""

    def __init__(self, profile: Path) -> None:
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()

        def connect() -> None:  # Chromium reads from descriptor 3 and writes to 4
            os.dup2(theirs_in, 10)
            os.dup2(theirs_out, 11)
            os.dup2(10, 3)
            os.dup2(11, 4)

        command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += ["--disable-dev-shm-usage", f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            command, preexec_fn=connect, close_fds=False, stdin=quiet, stdout=quiet, stderr=quiet
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._numbers = itertools.count(1)
        self._buffer = b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.call(f"{domain}.enable")

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], PATIENCE)[0]:
                raise TimeoutError("Chromium does not answer")
            piece = os.read(self._in, 1 << 16)
            if not piece:
                raise EOFError("Chromium has ended")
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command; its answer."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def open(self, path: Path, width: int = 1366, height: int = 768, dark: bool = False, scripts: bool = True) -> None:
        """Load a file from disk at a size, in light or dark, with or without scripts."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not self._is_loaded():
            self.events.append(self._read())

    def _is_loaded(self) -> bool:
        """Whether the page came, and after it the word that it is complete."""
        order = [event.get("method") for event in self.events]
        came = "Page.frameNavigated" in order
        return came and "Page.loadEventFired" in order[order.index("Page.frameNavigated") :]

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key, as a person would."""
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40}
        common = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        """Type into the element that has the focus."""
        self.call("Input.insertText", text=text)

    def middle(self, element: str) -> tuple[float, float]:
        """The middle of an element, after it was scrolled into view."""
        self.evaluate(f"{element}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        middle = "(({left, top, width, height}) => [left + width / 2, top + height / 2])"
        x, y = self.evaluate(f"{middle}({element}.getBoundingClientRect())")
        return x, y

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A movement, press or release of the mouse, or a turn of its wheel."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def screenshot(self) -> tuple[int, int, int]:
        """Width, height and number of different colours of what is seen."""
        return measured(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def complaints(self) -> list[dict[str, Any]]:
        """Errors, warnings and messages of the console."""
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
        return [event for event in self.events if event.get("method") in kinds]

    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)


def measured(png: bytes) -> tuple[int, int, int]:
    """Width, height and number of different colours of a picture with 8 bits a channel."""
    width, height = struct.unpack(">II", png[16:24])
    channels = {2: 3, 6: 4}[png[25]]
    data, position = b"", 8
    while position < len(png):
        length, kind = struct.unpack(">I4s", png[position : position + 8])
        if kind == b"IDAT":
            data += png[position + 8 : position + 8 + length]
        position += length + 12
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels)
    return width, height, len(np.unique(rows[:, 1:].reshape(-1, channels), axis=0))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests here."""
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a program with a loop, a cut, an accidental broadcast, and markup in its names and lines."""
    file = "/programs/<img src=x onerror=alert(1)>.py"
    linecache.cache[file] = (len(PROGRAM), None, PROGRAM.splitlines(True), file)
    with warnings.catch_warnings(), Collector() as heard:
        warnings.simplefilter("ignore")
        exec(compile(PROGRAM, file, "exec"), {"gt": gt, "np": np})
    return write(tmp_path_factory.mktemp("report") / "report.html", heard)


TRAINING = """
bad = "</script><img src=x onerror=alert(1)>"
params = {bad: [{bad: np.ones(3), "b": np.ones(3)} for _ in range(8)], "head": np.ones(3)}
def loss(params, x):
    for layer in params[bad]:
        x = gt.relu(x * layer[bad] + layer["b"])
    return (x * params["head"]).sum()
step, compiled = gt.value_and_grad(loss), gt.jit(lambda x: np.sum(np.tanh(x) ** 2))  # <img src=x>
for _ in range(4):
    value, gradients = step(params, np.ones((4, 3)))
    compiled(np.ones(5))
"""


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of several steps and a compiled function, with markup in the paths of its parameters."""
    file = "/programs/training.py"
    linecache.cache[file] = (len(TRAINING), None, TRAINING.splitlines(True), file)
    with warnings.catch_warnings(), Collector() as heard:
        warnings.simplefilter("ignore")
        exec(compile(TRAINING, file, "exec"), {"gt": gt, "np": np})
    return write(tmp_path_factory.mktemp("training") / "report.html", heard)


@pytest.mark.parametrize("width", [390, 820, 1440])
def test_training_and_times_are_shown(browser: Browser, training: Path, width: int) -> None:
    """Steps and compiled functions have a chart and tables that sort; nothing overflows, and markup is text."""
    browser.open(training, width)
    heads = browser.evaluate("[...document.querySelectorAll('h2')].map((head) => head.textContent)")
    assert {"Training", "Compiled functions"} <= set(heads)
    shown = "[...document.querySelectorAll('svg.chart')].filter((chart) => chart.getBoundingClientRect().width > 0)"
    assert browser.evaluate(f"{shown}.length") == 1
    browser.evaluate("document.querySelectorAll('.layers th button, .timed th button').forEach((head) => head.click())")
    browser.press("/")
    browser.type("img src")
    assert any("onerror" in text for text in _matches(browser))
    browser.press("Enter")
    assert browser.evaluate("document.querySelectorAll('img').length") == 0
    assert browser.evaluate("document.querySelectorAll('script').length") == 1
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []


SIZES = [(390, 844), (1366, 768)]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_it_renders(browser: Browser, report: Path, width: int, height: int, dark: bool) -> None:
    """On a phone and a laptop, light and dark, something is seen, nothing overflows, and nobody complains."""
    browser.open(report, width, height, dark)
    seen = browser.screenshot()
    assert seen[:2] == (width, height)
    assert seen[2] > 50
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []


def test_dark_is_dark(browser: Browser, report: Path) -> None:
    """The ground follows the system, and the switch turns it round."""
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.open(report)
    light = browser.evaluate(ground)
    browser.open(report, dark=True)
    assert browser.evaluate(ground) != light
    browser.evaluate("document.getElementById('theme').click()")
    assert browser.evaluate(ground) == light
    browser.evaluate("localStorage.clear()")


def test_nothing_is_asked_of_the_network(browser: Browser, report: Path) -> None:
    """The page itself is the only thing that is loaded."""
    browser.open(report)
    browser.evaluate("document.querySelectorAll('a').forEach((link) => link.dispatchEvent(new Event('mouseenter')))")
    assert browser.requests() == [report.as_uri()]


def test_markup_is_shown_and_not_executed(browser: Browser, report: Path) -> None:
    """Markup in a name, a source line and a file name makes no element and runs nothing."""
    browser.open(report)
    assert browser.evaluate("document.title").endswith("gradient report")
    assert browser.evaluate("document.querySelectorAll('#injected, img').length") == 0
    assert browser.evaluate("document.querySelectorAll('script').length") == 1
    assert "<b id=injected>W</b>" in browser.evaluate("document.body.innerText")


def test_a_loop_is_one_node_that_unfolds(browser: Browser, report: Path) -> None:
    """The line that ran fifty times is one node; Enter shows its card, with its operations unfolded."""
    browser.open(report)
    assert browser.evaluate("document.querySelectorAll('a.node').length") < 12
    find = "[...document.querySelectorAll('.times')].find((times) => times.textContent.endsWith(' 50')).closest('a')"
    browser.evaluate(f"{find}.focus()")
    browser.press("Enter")
    card = f"document.getElementById({find}.getAttribute('href').slice(1))"
    assert browser.evaluate(f"getComputedStyle({card}).display") == "block"
    assert browser.evaluate(f"{card}.querySelector('details').open")
    assert browser.evaluate("document.activeElement.className").startswith("card")
    assert browser.evaluate("document.querySelectorAll('.card.on').length") == 1
    assert browser.complaints() == []


def test_arrow_keys_go_from_node_to_node(browser: Browser, report: Path) -> None:
    """An arrow key moves the focus to the next node."""
    browser.open(report)
    browser.evaluate("document.querySelectorAll('a.node')[0].focus()")
    browser.press("ArrowDown")
    assert browser.evaluate("[...document.querySelectorAll('a.node')].indexOf(document.activeElement)") == 1


def _matches(browser: Browser) -> list[str]:
    found: list[str] = browser.evaluate("[...document.querySelectorAll('#found li')].map((item) => item.innerText)")
    return [" ".join(text.split()) for text in found]


@pytest.mark.parametrize(
    ("query", "kind", "words"),
    [
        ("frozen", "source", "frozen"),
        (":10", "line", ":10"),
        ("tanh", "node", "np.tanh"),
        ("20 x 20", "node", "error = state - y"),
        ("(20, 20)", "node", "error = state - y"),
        ("X @ W", "line", "state = X @ W"),
        ("GT101", "verdict", "GT101"),
        ("<b id=injected>", "source", "<b id=injected>W</b>"),
    ],
)
def test_search_finds(browser: Browser, report: Path, query: str, kind: str, words: str) -> None:
    """A name, a line, an operation, a shape in either spelling, code, and a code of a verdict are found, as text."""
    browser.open(report)
    browser.press("/")
    browser.type(query)
    found = _matches(browser)
    assert any(text.startswith(kind) and words in text for text in found), found
    assert browser.evaluate("document.querySelectorAll('.hit').length") > 0
    assert browser.evaluate("document.querySelectorAll('#injected, img').length") == 0
    assert browser.complaints() == []


def test_search_jumps(browser: Browser, report: Path) -> None:
    """Arrow and Enter go to a match, n to the next one; Escape closes the list and then empties the field."""
    browser.open(report)
    browser.press("/")
    browser.type("np.tanh")
    browser.press("ArrowDown")
    assert browser.evaluate("document.getElementById('query').getAttribute('aria-activedescendant')") == "found0"
    browser.press("Enter")
    assert browser.evaluate("document.activeElement.matches('a.node[aria-current].hit')")
    browser.press("n")
    assert browser.evaluate("document.activeElement.closest('tr').innerText").find("np.tanh") > 0
    browser.press("/")
    browser.press("Escape")
    assert browser.evaluate("document.getElementById('found').hidden")
    browser.press("Escape")
    assert browser.evaluate("document.querySelectorAll('.hit').length") == 0
    assert browser.evaluate("document.documentElement.classList.contains('finding')") is False
    assert browser.complaints() == []


WIDTH = "document.querySelector('svg.graph').getBoundingClientRect().width"


def test_the_graph_zooms(browser: Browser, report: Path) -> None:
    """Buttons, keys and Ctrl with the wheel zoom; Fit shows the whole graph, also after the window was resized."""
    browser.open(report)
    first = browser.evaluate(WIDTH)
    browser.evaluate("document.querySelector('[data-do=in]').click()")
    larger = browser.evaluate(WIDTH)
    assert larger > first
    browser.evaluate("document.querySelector('.canvas').focus()")
    browser.press("-")
    assert browser.evaluate(WIDTH) == pytest.approx(first, abs=1)
    x, y = browser.middle("document.querySelector('.canvas')")
    browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-240, modifiers=2)
    browser.evaluate("new Promise(requestAnimationFrame)")
    browser.press("0")
    fits = "((box) => box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight)"
    assert browser.evaluate(f"{fits}(document.querySelector('.canvas'))")
    browser.press("1")
    assert browser.evaluate("document.querySelector('.zoom output').textContent") == "100 %"
    browser.evaluate("document.querySelector('[data-do=expand]').click()")
    assert browser.evaluate("document.querySelector('.stage').getBoundingClientRect().top") == 0
    browser.evaluate("document.querySelector('.canvas').focus()")
    browser.press("Escape")
    assert browser.evaluate("document.querySelector('.stage').classList.contains('full')") is False
    assert browser.complaints() == []


def test_the_mouse_drags_the_graph(browser: Browser, report: Path) -> None:
    """A drag scrolls the graph and chooses no node, also where it ends on one; a click chooses."""
    browser.open(report)
    for _ in range(6):
        browser.evaluate("document.querySelector('[data-do=in]').click()")
    node = "document.querySelectorAll('a.node')[2]"
    browser.evaluate("document.querySelector('.canvas').scrollTo(0, 0)")
    x, y = browser.middle(node)
    assert browser.evaluate("document.querySelector('.canvas').scrollTop") > 60
    chosen = browser.evaluate("document.querySelector('a.node[aria-current]').getAttribute('href')")
    before = browser.evaluate("document.querySelector('.canvas').scrollTop")
    browser.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    browser.mouse("mouseMoved", x, y + 30, button="left", buttons=1)
    browser.mouse("mouseMoved", x, y + 60, button="left", buttons=1)
    browser.mouse("mouseReleased", x, y + 60, button="left", clickCount=1)
    assert browser.evaluate("document.querySelector('.canvas').scrollTop") == pytest.approx(before - 60, abs=2)
    assert browser.evaluate("document.querySelector('a.node[aria-current]').getAttribute('href')") == chosen
    x, y = browser.middle(node)
    browser.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    browser.mouse("mouseReleased", x, y, button="left", clickCount=1)
    assert browser.evaluate(f"{node}.getAttribute('aria-current')") == "true"


def test_tables_are_sorted(browser: Browser, report: Path) -> None:
    """A heading sorts upwards, downwards and not at all, by click and by key, and says so; None is the smallest."""
    browser.open(report)
    names = "[...document.querySelectorAll('#sources0 tbody tr')].map((row) => row.cells[0].textContent)"
    head = "[...document.querySelectorAll('#sources0 thead th')].find((head) => head.textContent === 'norm')"
    first = browser.evaluate(names)
    browser.evaluate(f"{head}.querySelector('button').click()")
    assert browser.evaluate(f"{head}.getAttribute('aria-sort')") == "ascending"
    upwards = browser.evaluate(names)
    assert upwards[0] == "frozen"
    browser.evaluate(f"{head}.querySelector('button').focus()")
    browser.press("Enter")
    assert browser.evaluate(f"{head}.getAttribute('aria-sort')") == "descending"
    assert browser.evaluate(names) == upwards[::-1]
    browser.press("Enter")
    assert browser.evaluate(names) == first


def test_lines_of_code_are_wrapped_on_a_phone(browser: Browser, report: Path) -> None:
    """On a phone no line of code scrolls by itself."""
    browser.open(report, 390, 844)
    lines = "[...document.querySelectorAll('.source td.code')]"
    assert browser.evaluate(f"{lines}.every((line) => line.scrollWidth <= line.clientWidth)")


def test_a_verdict_leads_to_its_line_and_its_node(browser: Browser, report: Path) -> None:
    """The links of a verdict show its source line and choose its node."""
    browser.open(report)
    links = "document.querySelector('.verdict .links').querySelectorAll('a')"
    browser.evaluate(f"{links}[0].click()")
    assert browser.evaluate("document.querySelector('tr:target').classList.contains('accused')")
    browser.evaluate(f"{links}[1].click()")
    browser.evaluate("dispatchEvent(new HashChangeEvent('hashchange'))")
    target = browser.evaluate(f"{links}[1].getAttribute('href')")
    assert browser.evaluate("document.querySelector('a.node[aria-current]').getAttribute('href')") == target


def test_it_works_without_scripts(browser: Browser, report: Path) -> None:
    """With scripts off every card is shown, links lead to them, and the graph is there."""
    browser.open(report, scripts=False)
    assert browser.screenshot()[2] > 50
    assert browser.complaints() == []
    document = browser.call("DOM.getDocument", depth=0)["root"]["nodeId"]
    cards = browser.call("DOM.querySelectorAll", nodeId=document, selector=".card")["nodeIds"]
    nodes = browser.call("DOM.querySelectorAll", nodeId=document, selector="svg.graph a.node")["nodeIds"]
    assert len(cards) == len(nodes) > 3
    for card in cards:
        box = browser.call("DOM.getBoxModel", nodeId=card)["model"]
        assert box["height"] > 50


def test_a_screen_reader_finds_its_way(browser: Browser, report: Path) -> None:
    """There are landmarks and headings, and every node and button has a name."""
    browser.open(report)
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    found: dict[str, list[str]] = {}
    for item in tree:
        if not item.get("ignored"):
            found.setdefault(item["role"]["value"], []).append(item.get("name", {}).get("value", ""))
    assert {"main", "navigation", "banner", "contentinfo", "heading", "table"} <= set(found)
    assert "Verdicts" in found["heading"]
    assert all(found["link"])
    assert all(found["button"])
    nodes = browser.evaluate("[...document.querySelectorAll('a.node')].map((node) => node.getAttribute('aria-label'))")
    assert all(any(words in name for words in ("gradient", "constant")) for name in nodes)


def test_it_can_be_printed(browser: Browser, report: Path) -> None:
    """On paper every card is shown and the bar with the switch is not."""
    browser.open(report)
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.evaluate("[...document.querySelectorAll('.card')].every((card) => card.offsetHeight > 0)")
    assert browser.evaluate("getComputedStyle(document.querySelector('.bar')).display") == "none"
    assert len(base64.b64decode(browser.call("Page.printToPDF")["data"])) > 10_000
    browser.call("Emulation.setEmulatedMedia", media="")
