// The keyboard: letters work while a word of the tree has the focus.

import { byId, el } from "./dom.js";

const KEYS = [
  ["← →, Home, End", "the word before, after; first, last"],
  ["↑, ↓", "its head; its first dependent"],
  ["1 … 6", "take that head of the list"],
  ["H", "choose a head with the arrow keys and Enter"],
  ["R", "make it the root"],
  ["C", "its head is right: fix it, and check the surest of the rest"],
  ["F", "fix its arc, or release it"],
  ["X", "forbid its arc"],
  ["L, T", "write a label, a tag"],
  ["E", "why: the features behind the arc"],
  ["S, M", "split the word; merge it with the next"],
  ["B, J", "begin a sentence here; join the next sentence"],
  ["U, Y", "undo, redo (also Ctrl+Z, Ctrl+Y)"],
  ["K", "the next of the best trees"],
  ["A", "accept, and go to the next sentence"],
  ["N, P", "next, previous sentence"],
  ["Ctrl+S", "save"],
];

export function showKeys(app) {
  const rows = KEYS.map(([key, text]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, text)));
  app.dialog("Keys", [
    el("p", {}, "Letters work while a word of the tree has the focus. With a mouse: click an arc to require or forbid it, drag a word to its head, or up to the top to make it the root."),
    el("table", { class: "keys" }, el("tbody", {}, rows)),
  ]);
}

export function keyHandler(app) {
  const words = () => app.answer.forms.length;
  const move = (m) => {
    const to = Math.max(1, Math.min(words(), m));
    if (app.picking !== undefined) {
      app.picking = to;
      app.render();
      app.tree.reveal(to);
    } else app.choose(to);
  };
  const at = () => (app.picking !== undefined ? app.picking : app.chosen);
  const forward = () => (app.answer.right_to_left ? -1 : 1);

  const actions = {
    ArrowRight: () => move(at() + forward()),
    ArrowLeft: () => move(at() - forward()),
    Home: () => move(1),
    End: () => move(words()),
    ArrowUp: () => move(app.shownTree().heads[at() - 1] || at()),
    ArrowDown: () => move(app.shownTree().heads.indexOf(at()) + 1 || at()),
    Escape: () => {
      app.endPicking();
      app.render();
    },
    c: () => app.do.confirm(app.chosen),
    f: () => app.do.toggleFixed(app.chosen),
    x: () => app.do.forbid(app.chosen, app.answer.heads[app.chosen - 1]),
    r: () => app.do.setHead(app.chosen, 0),
    h: () => app.pick(app.chosen),
    l: () => byId("label-input").focus(),
    t: () => byId("tag-input").focus(),
    e: () => app.do.explain(app.chosen),
    s: () => app.do.splitWord(app.chosen),
    m: () => app.do.mergeWords(app.chosen),
    b: () => app.do.splitSentence(app.chosen),
    j: () => app.do.mergeSentences(),
    u: () => app.do.undo(),
    y: () => app.do.redo(),
    a: () => app.do.accept(),
    n: () => app.go(app.place + 1).then(() => app.tree.focus(app.chosen)),
    p: () => app.go(app.place - 1).then(() => app.tree.focus(app.chosen)),
    k: () => (app.flipped ? app.turn(1) : app.flip(false)),
    "?": () => showKeys(app),
  };

  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (app.picking !== undefined && (key === "Enter" || key === " " || key === "0")) {
      event.preventDefault();
      const from = app.pickedFor, to = key === "0" ? 0 : app.picking;
      app.endPicking();
      if (to !== from) app.do.setHead(from, to);
      else app.render();
      return;
    }
    if (/^[1-6]$/.test(key)) {
      const found = app.answer.head_candidates[app.chosen - 1]?.[Number(key) - 1];
      if (found) app.do.setHead(app.chosen, found[0]);
      event.preventDefault();
    } else if (key in actions) {
      event.preventDefault();
      actions[key]();
    }
  };
}
