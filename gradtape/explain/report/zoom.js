// Zoom, fit and pan of each graph: buttons, keys, Ctrl and the wheel, two fingers; the mouse drags. The box scrolls as
// before, so arrow keys, the wheel and one finger pan it too.
(() => {
  const LEAST = 0.08, MOST = 4, STEP = 1.25, READABLE = 0.62;
  document.querySelectorAll(".picture").forEach((picture) => {
    const stage = picture.querySelector(".stage"), box = picture.querySelector(".canvas");
    const svg = box.querySelector("svg.graph"), tools = picture.querySelector(".zoom");
    const said = tools.querySelector("output");
    const wide = svg.viewBox.baseVal.width, tall = svg.viewBox.baseVal.height;
    let zoom = 1, isFitted = false;

    // the point (x, y) of the window stays where it is: the middle of the box unless told
    const set = (value, x, y) => {
      const inside = box.getBoundingClientRect(), before = svg.getBoundingClientRect();
      x = x ?? inside.left + inside.width / 2;
      y = y ?? inside.top + inside.height / 2;
      const across = (x - before.left) / zoom, down = (y - before.top) / zoom;
      zoom = Math.min(MOST, Math.max(LEAST, value));
      Object.assign(svg.style, { width: wide * zoom + "px", height: tall * zoom + "px", minWidth: 0, maxWidth: "none" });
      const after = svg.getBoundingClientRect();
      box.scrollLeft += after.left + across * zoom - x;
      box.scrollTop += after.top + down * zoom - y;
      said.textContent = Math.round(zoom * 100) + " %";
    };
    const room = () => [(box.clientWidth - 2) / wide, (roomBelow() - 2) / tall];
    const roomBelow = () => parseFloat(getComputedStyle(box).maxHeight) || box.clientHeight;
    const fit = () => { isFitted = true; set(Math.min(...room(), 1.5)); };
    const by = (factor, x, y) => { isFitted = false; set(zoom * factor, x, y); };
    const begin = () => set(Math.min(1, Math.max(READABLE, room()[0])));
    const expand = (on) => {
      stage.classList.toggle("full", on);
      tools.querySelector("[data-do=expand]").textContent = on ? "Close" : "Expand";
      if (isFitted) fit();
    };
    const does = {
      out: () => by(1 / STEP), in: () => by(STEP), fit, whole: () => { isFitted = false; set(1); },
      expand: () => expand(!stage.classList.contains("full")),
    };
    tools.hidden = false;
    tools.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) does[button.dataset.do]();
    });
    stage.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const what = { "+": "in", "=": "in", "-": "out", "0": "fit", "1": "whole" }[event.key];
      if (what) { event.preventDefault(); does[what](); }
      if (event.key === "Escape" && stage.classList.contains("full")) expand(false);
    });
    box.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      by(Math.exp(-event.deltaY / (event.deltaMode ? 8 : 240)), event.clientX, event.clientY);
    }, { passive: false });

    // the mouse drags; a drag that ends on a node does not choose it
    let from = null, wasDragged = false;
    box.addEventListener("pointerdown", (event) => {
      wasDragged = false;
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      from = { x: event.clientX, y: event.clientY, left: box.scrollLeft, top: box.scrollTop };
    });
    addEventListener("pointermove", (event) => {
      if (!from || !(event.buttons & 1)) { from = null; box.classList.remove("dragged"); return; }
      const x = event.clientX - from.x, y = event.clientY - from.y;
      if (!wasDragged && Math.hypot(x, y) < 5) return;
      wasDragged = true;
      box.classList.add("dragged");
      box.scrollLeft = from.left - x;
      box.scrollTop = from.top - y;
    });
    addEventListener("pointerup", () => { from = null; box.classList.remove("dragged"); });
    box.addEventListener("dragstart", (event) => event.preventDefault());
    box.addEventListener("click", (event) => {
      if (wasDragged) { event.preventDefault(); event.stopPropagation(); wasDragged = false; }
    }, true);

    // two fingers
    let apart = 0;
    const spread = ([a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    box.addEventListener("touchstart", (event) => { apart = event.touches.length === 2 ? spread(event.touches) : 0; });
    box.addEventListener("touchmove", (event) => {
      if (event.touches.length !== 2 || !apart) return;
      event.preventDefault();
      const [a, b] = event.touches, now = spread(event.touches);
      by(now / apart, (a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2);
      apart = now;
    }, { passive: false });

    new ResizeObserver(() => { if (isFitted) fit(); }).observe(box);
    begin();
  });
})();
