// The tree: words as buttons, arcs above them, and below them the other heads of one word: that under
// the mouse, or the chosen one.

import { el, svg, percent } from "./dom.js";

const STEP = 30; // height of a level of arcs
const RADIUS = 12;
const SURE = 0.9, DOUBTFUL = 0.6;
const measure = document.createElement("canvas").getContext("2d");

function textWidth(text, bold = false) {
  measure.font = `${bold ? "600 " : ""}13px system-ui, sans-serif`;
  return measure.measureText(text).width;
}

export function certainty(p) {
  if (p === null || p === undefined) return "unknown";
  return p >= SURE ? "sure" : p >= DOUBTFUL ? "unsure" : "doubtful";
}

// The level of each arc: above all arcs inside it, and beside those that cross it.
function levels(arcs) {
  const sorted = [...arcs].sort((a, b) => a.right - a.left - (b.right - b.left));
  const placed = [];
  for (const arc of sorted) {
    arc.level = 1;
    for (const other of placed) {
      const apart = other.right <= arc.left || other.left >= arc.right;
      if (!apart) arc.level = Math.max(arc.level, other.level + 1);
    }
    placed.push(arc);
  }
  return Math.max(1, ...arcs.map((arc) => arc.level));
}

export class TreeView {
  constructor(container, actions) {
    this.actions = actions; // select, head, arc, key
    this.words = el("div", { class: "words" });
    this.above = svg("svg", { class: "arcs", "aria-hidden": "true" });
    this.below = svg("svg", { class: "others", "aria-hidden": "true" });
    this.inside = el("div", { class: "inside" }, this.above, this.words, this.below);
    container.replaceChildren(this.inside);
    this.container = container;
    this.drag = null;
    this.words.addEventListener("pointerdown", (event) => this.begin(event));
    container.addEventListener("pointermove", (event) => this.move(event));
    container.addEventListener("pointerup", (event) => this.drop(event));
    container.addEventListener("pointercancel", () => this.stop());
    this.words.addEventListener("pointerover", (event) => {
      const word = event.target.closest(".word");
      if (word && event.pointerType === "mouse") this.hover(Number(word.dataset.word));
    });
    this.words.addEventListener("pointerleave", () => this.hover(undefined));
    this.words.addEventListener("keydown", (event) => this.actions.key(event));
    new ResizeObserver(() => this.shown && this.place()).observe(container);
  }

  // `tree` has forms, tags, heads, labels, probabilities, fixed marks; `chosen` is a word.
  show(tree, chosen) {
    const same = this.shown && this.shown.forms.join("\t") === tree.forms.join("\t");
    this.shown = tree;
    this.chosen = chosen;
    this.hovered = undefined;
    this.inside.dir = tree.right_to_left ? "rtl" : "ltr";
    if (!same || this.words.childElementCount !== tree.forms.length) this.make();
    tree.forms.forEach((_, i) => this.mark(i + 1));
    this.place();
  }

  make() {
    const buttons = this.shown.forms.map((form, i) =>
      el("button", { type: "button", class: "word", "data-word": i + 1, onclick: () => this.dropped || this.actions.select(i + 1) },
        el("span", { class: "form" }, form),
        el("span", { class: "tag" })));
    this.words.replaceChildren(...buttons);
  }

  button(m) {
    return this.words.children[m - 1];
  }

  mark(m) {
    const { forms, tags, heads, labels, probabilities, fixed, picking, set } = this.shown;
    const button = this.button(m), head = heads[m - 1];
    const is = { chosen: m === this.chosen, fixed: fixed.heads.has(m), target: picking === m, inset: set?.has(m) };
    button.className = ["word", ...Object.keys(is).filter((name) => is[name])].join(" ");
    button.tabIndex = m === this.chosen ? 0 : -1;
    button.setAttribute("aria-pressed", String(m === this.chosen));
    const under = head === 0 ? "the root" : head > 0 ? forms[head - 1] : "nothing yet";
    const sure = probabilities[m - 1] === null ? "" : `, ${percent(probabilities[m - 1])}`;
    const marks = [fixed.heads.has(m) ? "head fixed" : "", fixed.tags.has(m) ? "tag fixed" : ""].filter(Boolean).join(", ");
    button.setAttribute("aria-label", `${m}: ${forms[m - 1]}, ${tags[m - 1]}, ${labels[m - 1]} of ${under}${sure}${marks && `, ${marks}`}`);
    const listed = (found) => (found || []).slice(0, 4).map(([name, p]) => `${name === 0 ? "root" : forms[name - 1] ?? name} ${percent(p)}`).join(", ");
    button.title = [["heads", this.shown.others[m - 1]], ["tags", this.shown.tagged?.[m - 1]]]
      .filter(([, found]) => found?.length).map(([name, found]) => `${name}: ${listed(found)}`).join("\n");
    const tag = button.lastElementChild;
    tag.textContent = tags[m - 1] === "_" ? "" : tags[m - 1];
    tag.className = fixed.tags.has(m) ? "tag fixed" : "tag";
  }

  focus(m) {
    const button = this.button(m);
    if (!button) return;
    button.focus({ preventScroll: true });
    this.reveal(m);
  }

  reveal(m) {
    const button = this.button(m), box = this.container;
    const left = button.offsetLeft, right = left + button.offsetWidth;
    if (left < box.scrollLeft + 20) box.scrollLeft = left - 60;
    else if (right > box.scrollLeft + box.clientWidth - 20) box.scrollLeft = right - box.clientWidth + 60;
  }

  // Neighbours are set apart far enough for the label of an arc between them.
  spread() {
    const { heads, labels, probabilities } = this.shown;
    const buttons = [...this.words.children];
    for (const button of buttons) button.style.marginInlineStart = "";
    heads.forEach((head, i) => {
      const m = i + 1;
      if (head < 1 || Math.abs(head - m) !== 1) return;
      const wanted = textWidth(`${labels[i]} ${short(probabilities[i])}`, true) + 34;
      const later = buttons[Math.max(head, m) - 1], earlier = buttons[Math.min(head, m) - 1];
      const distance = (later.offsetWidth + earlier.offsetWidth) / 2 + 12;
      if (distance < wanted) later.style.marginInlineStart = `${wanted - distance}px`;
    });
  }

  place() {
    this.spread();
    const { heads } = this.shown;
    this.centres = [0, ...[...this.words.children].map((b) => b.offsetLeft + b.offsetWidth / 2)];
    const arcs = [];
    heads.forEach((head, i) => {
      if (head > 0) arcs.push({ head, m: i + 1, left: Math.min(head, i + 1), right: Math.max(head, i + 1) });
    });
    const highest = levels(arcs);
    const height = (highest + 1) * STEP + 14;
    const width = this.words.scrollWidth;
    for (const picture of [this.above, this.below]) {
      picture.setAttribute("width", width);
      picture.style.width = `${width}px`;
    }
    this.above.setAttribute("height", height);
    const drawn = arcs.map((arc) => this.arc(arc, height - 4, arcs));
    heads.forEach((head, i) => head === 0 && drawn.push(this.root(i + 1, height - 4)));
    drawn.sort((a, b) => Number(a.dataset.word === String(this.chosen)) - Number(b.dataset.word === String(this.chosen)));
    this.above.replaceChildren(...drawn);
    this.drawOthers();
  }

  // Where an arc leaves its head: arcs to one side are next to each other, the longest inside.
  departure(arc, arcs) {
    const side = Math.sign(this.centres[arc.m] - this.centres[arc.head]);
    const beside = arcs.filter((one) => one.head === arc.head && Math.sign(this.centres[one.m] - this.centres[one.head]) === side);
    beside.sort((a, b) => a.right - a.left - (b.right - b.left));
    const half = this.button(arc.head).offsetWidth / 2;
    const room = Math.min(6, (half - 10) / beside.length);
    return this.centres[arc.head] + side * (4 + (beside.length - beside.indexOf(arc)) * room);
  }

  arc(arc, floor, arcs) {
    const { labels, probabilities, fixed, forms } = this.shown;
    const p = probabilities[arc.m - 1], isFixed = fixed.heads.has(arc.m);
    const [from, to] = [this.departure(arc, arcs), this.centres[arc.m]];
    const top = floor - arc.level * STEP;
    const kind = isFixed ? "fixed" : certainty(p);
    const parts = [
      svg("path", { class: "hit", d: bend(from, to, floor, top) }),
      svg("path", { class: "line", d: bend(from, to, floor, top) }),
      svg("path", { class: "tip", d: `M${to - 4} ${floor - 7}h8l-4 7z` }),
      ...this.label(labels[arc.m - 1], isFixed ? "" : short(p), (from + to) / 2, top, isFixed),
      svg("title", {}, `${forms[arc.m - 1]} ← ${forms[arc.head - 1]}: ${labels[arc.m - 1]} ${percent(p)}`),
    ];
    return this.group(arc.m, kind, parts);
  }

  root(m, floor) {
    const { labels, probabilities, fixed } = this.shown;
    const p = probabilities[m - 1], isFixed = fixed.heads.has(m), x = this.centres[m];
    const parts = [
      svg("path", { class: "hit", d: `M${x} 24V${floor}` }),
      svg("path", { class: "line", d: `M${x} 24V${floor}` }),
      svg("path", { class: "tip", d: `M${x - 4} ${floor - 7}h8l-4 7z` }),
      ...this.label(labels[m - 1], isFixed ? "" : short(p), x, 14, isFixed),
    ];
    return this.group(m, isFixed ? "fixed" : certainty(p), parts);
  }

  label(label, chance, x, y, isFixed) {
    const width = textWidth(`${label}${chance && ` ${chance}`}`, true) + (isFixed ? 20 : 10);
    const text = svg("text", { x: x + (isFixed ? 5 : 0), y: y + 4.5, "text-anchor": "middle" },
      svg("tspan", { class: "name" }, label), chance ? svg("tspan", { class: "chance", dx: 4 }, chance) : null);
    const pin = isFixed ? [svg("circle", { class: "pin", cx: x - width / 2 + 7, cy: y, r: 3.5 })] : [];
    return [svg("rect", { class: "paper", x: x - width / 2, y: y - 9, width, height: 18, rx: 9 }), ...pin, text];
  }

  group(m, kind, parts) {
    const own = m === this.chosen ? " chosen" : "";
    const made = svg("g", { class: `arc ${kind}${own}`, "data-word": m }, parts);
    made.addEventListener("click", (event) => this.actions.arc(m, event));
    return made;
  }

  otherHeads(m) {
    const { others, heads } = this.shown;
    return (others[m - 1] || []).filter(([h, p]) => h !== heads[m - 1] && p >= 0.02).slice(0, 4);
  }

  hover(m) {
    if (this.hovered === m || this.drag) return;
    this.hovered = m;
    this.drawOthers();
  }

  // The other heads of a word, below the words: the likelier, the stronger.
  drawOthers() {
    const m = this.hovered ?? this.chosen, mine = this.otherHeads(m);
    const barred = this.shown.forbidden.filter(([, word]) => word === m);
    const arcs = mine.filter(([h]) => h > 0).map(([head, p]) => ({ head, m, p, left: Math.min(head, m), right: Math.max(head, m) }));
    arcs.push(...barred.filter(([h]) => h > 0).map(([head]) => ({ head, m, barred: true, left: Math.min(head, m), right: Math.max(head, m) })));
    arcs.sort((a, b) => a.right - a.left - (b.right - b.left)).forEach((arc, i) => (arc.level = i + 1));
    const root = mine.find(([h]) => h === 0);
    const tokens = this.shown.multiword || [], above = tokens.length ? 22 : 0;
    const most = Math.max(arcs.length + (root ? 1 : 0), ...this.shown.forms.map((_, i) => this.otherHeads(i + 1).length));
    this.below.setAttribute("height", above + Math.max(24, most * 26 + 16)); // the same for every word
    const drawn = tokens.map((token) => this.token(token));
    for (const arc of arcs) {
      const [from, to] = [this.centres[arc.head], this.centres[arc.m]];
      const depth = 4 + above + arc.level * 26;
      const kind = arc.barred ? "barred" : "other";
      const made = svg("g", { class: kind }, svg("path", { class: "line", d: bend(from, to, 4, depth) }),
        ...this.label(arc.barred ? "not" : percent(arc.p), "", (from + to) / 2, depth, false));
      if (!arc.barred) made.addEventListener("click", () => this.actions.head(m, arc.head));
      made.style.setProperty("--strength", String(arc.barred ? 1 : 0.35 + 0.65 * Math.min(1, arc.p * 2)));
      drawn.push(made);
    }
    if (root) {
      const depth = 4 + above + (arcs.length + 1) * 26, x = this.centres[m];
      const made = svg("g", { class: "other" }, svg("path", { class: "line", d: `M${x} 4V${depth - 8}` }),
        ...this.label(`root ${percent(root[1])}`, "", x, depth, false));
      made.addEventListener("click", () => this.actions.head(m, 0));
      drawn.push(made);
    }
    this.below.replaceChildren(...drawn);
  }

  // A multiword token: a line below its words, with its form.
  token([first, last, form]) {
    const sides = [first, last].flatMap((m) => [this.button(m).offsetLeft + 6, this.button(m).offsetLeft + this.button(m).offsetWidth - 6]);
    const [left, right] = [Math.min(...sides), Math.max(...sides)];
    return svg("g", { class: "token" }, svg("path", { class: "line", d: `M${left} 2v4H${right}v-4` }),
      svg("text", { x: (left + right) / 2, y: 20, "text-anchor": "middle" }, form));
  }

  // Dragging from a word to its head; the space above the arcs is the root.

  begin(event) {
    const word = event.target.closest(".word");
    if (!word || event.button !== 0) return;
    const m = Number(word.dataset.word);
    if (event.pointerType === "touch" && m !== this.chosen) return; // the first touch scrolls or chooses
    this.drag = { m, x: event.clientX, y: event.clientY, moved: false, pointer: event.pointerId };
  }

  move(event) {
    if (!this.drag) return;
    const { m, x, y } = this.drag;
    if (!this.drag.moved) {
      if (Math.hypot(event.clientX - x, event.clientY - y) < 6) return;
      this.drag.moved = true;
      this.container.setPointerCapture(this.drag.pointer);
      this.drag.line = svg("path", { class: "dragged" });
      this.above.append(this.drag.line);
      this.container.classList.add("dragging");
    }
    const box = this.above.getBoundingClientRect();
    const floor = Number(this.above.getAttribute("height")) - 4;
    const [px, py] = [event.clientX - box.left, Math.min(event.clientY - box.top, floor)];
    const head = this.under(event);
    const end = head > 0 ? this.centres[head] : px;
    const top = Math.max(10, Math.min(py, floor - STEP));
    this.drag.line.setAttribute("d", head === 0 ? `M${this.centres[m]} 4V${floor}` : bend(this.centres[m], end, floor, top));
    for (const button of this.words.children) button.classList.toggle("target", Number(button.dataset.word) === head && head !== m);
  }

  under(event) {
    const found = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".word");
    if (found && this.words.contains(found)) return Number(found.dataset.word);
    const box = this.above.getBoundingClientRect();
    return event.clientY < box.top + 22 ? 0 : -1;
  }

  drop(event) {
    const drag = this.drag;
    const head = drag?.moved ? this.under(event) : -1;
    this.stop();
    if (!drag?.moved) return;
    this.dropped = true; // the click that ends a drag chooses no word
    setTimeout(() => (this.dropped = false), 0);
    if (head >= 0 && head !== drag.m) this.actions.head(drag.m, head);
  }

  stop() {
    this.drag?.line?.remove();
    this.drag = null;
    this.container.classList.remove("dragging");
    for (const button of this.words.children) button.classList.remove("target");
  }
}

function short(p) {
  return p === null || p === undefined || p >= 0.995 ? "" : String(Math.max(1, Math.round(p * 100)));
}

// A line up (or down) from one word, along, and to another, with round corners.
function bend(from, to, floor, top) {
  const side = Math.sign(to - from) || 1;
  const r = Math.min(RADIUS, Math.abs(to - from) / 2, Math.abs(floor - top));
  const turn = Math.sign(floor - top);
  return `M${from} ${floor}V${top + turn * r}Q${from} ${top} ${from + side * r} ${top}H${to - side * r}Q${to} ${top} ${to} ${top + turn * r}V${floor}`;
}
