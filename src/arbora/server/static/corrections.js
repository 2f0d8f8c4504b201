// Corrections: each is one step that can be undone, with the rest parsed around what is fixed.

import { call } from "./api.js";
import { Sentence, differences } from "./conllu.js";
import { copyState } from "./document.js";
import { byId, el, say } from "./dom.js";
import { showList } from "./list.js";

const HEAD_AND_LABEL = [6, 7];
const with_ = (list, m) => (list.includes(m) ? list : [...list, m]);
const without = (list, m) => list.filter((one) => one !== m);

export class Corrections {
  constructor(app) {
    this.app = app;
    this.waiting = Promise.resolve();
  }

  // What the server is asked: the sentence, with what is fixed and forbidden.
  question(text, state) {
    const sentence = new Sentence(text);
    const required = state.heads
      .filter((m) => m <= sentence.length && sentence.head(m) >= 0)
      .map((m) => (state.labels.includes(m) && sentence.label(m) !== "_" ? [sentence.head(m), m, sentence.label(m)] : [sentence.head(m), m]));
    const fixed = new Set(required.map(([h, m]) => `${h} ${m}`));
    const forbidden = state.forbidden.filter(([h, m]) => !fixed.has(`${h} ${m}`));
    return { conllu: text, required, forbidden, ...this.app.view };
  }

  ask(text, state, keep) {
    return call("/api/constrain", { ...this.question(text, state), keep });
  }

  // A sentence that cannot be parsed is shown as it is.
  unanswered(text) {
    const sentence = new Sentence(text);
    const column = (c) => sentence.words.map((_, i) => sentence.cell(i + 1, c));
    const none = sentence.words.map(() => []);
    return {
      forms: column(1), lemmas: column(2), upos: column(3), xpos: column(4), feats: column(5),
      heads: sentence.heads, labels: column(7), arc_probabilities: sentence.words.map(() => null),
      label_probabilities: sentence.words.map(() => null), head_candidates: none, label_candidates: none,
      tag_candidates: none, entropy: null, log_prob: null, expected_errors: null, source: null,
      right_to_left: false, multiword: [], milliseconds: 0,
    };
  }

  // The sentence with the tree that is shown, before it is changed.
  current() {
    const sentence = new Sentence(this.app.item.text);
    sentence.setTree(this.app.shownTree());
    return { sentence, state: copyState(this.app.item.state) };
  }

  // One after the other, so that each begins where the last has ended.
  later(action) {
    const result = this.waiting.then(action);
    this.waiting = result.catch((error) => say(error.message, true));
    return this.waiting;
  }

  // Changes the sentence by a function, parses the rest, and keeps the step.
  step(what, m, change, { keep = this.app.keeps } = {}) {
    return this.later(async () => {
      const began = performance.now();
      const { sentence, state } = this.current();
      if (change(sentence, state) === false) return;
      const index = this.app.index;
      const answer = await this.ask(sentence.toString(), state, keep);
      sentence.setTree(answer);
      this.app.work.change(index, 1, [{ text: sentence.toString(), state }], what);
      this.app.flipped = null;
      this.app.answer = answer;
      this.app.took = performance.now() - began;
      this.app.chosen = Math.min(m, sentence.length);
      this.app.render();
      if (byId("tree").contains(document.activeElement)) this.app.tree.focus(this.app.chosen);
      await showList(this.app);
    });
  }

  setHead(m, head) {
    const form = this.app.answer.forms[m - 1];
    return this.step(`head of ${form}`, m, (sentence, state) => {
      if (this.app.keeps) freeConflicts(sentence, state, m, head, this.app.view.root === "single");
      const label = sentence.head(m) === head ? sentence.label(m) : "_";
      sentence.setArc(m, head, label);
      state.heads = with_(state.heads, m);
      if (label === "_") state.labels = without(state.labels, m);
      state.forbidden = state.forbidden.filter(([h, word]) => word !== m || h !== head);
    });
  }

  forbid(m, head) {
    return this.step(`not that head of ${this.app.answer.forms[m - 1]}`, m, (sentence, state) => {
      if (sentence.head(m) === head) {
        state.heads = without(state.heads, m);
        state.labels = without(state.labels, m);
        for (const column of HEAD_AND_LABEL) sentence.set(m, column, "_");
      }
      state.forbidden = [...state.forbidden.filter(([h, word]) => h !== head || word !== m), [head, m]];
    });
  }

  allow(m, head) {
    return this.step("allow an arc", m, (sentence, state) => {
      state.forbidden = state.forbidden.filter(([h, word]) => h !== head || word !== m);
    });
  }

  toggleFixed(m) {
    const fixed = this.app.item.state.heads.includes(m);
    return this.step(fixed ? "release an arc" : "require an arc", m, (sentence, state) => {
      state.heads = fixed ? without(state.heads, m) : with_(state.heads, m);
      if (fixed) state.labels = without(state.labels, m);
    });
  }

  // Its head is right: it is fixed, and the surest word that is not fixed yet comes next.
  confirm(m) {
    if (this.app.item.state.heads.includes(m)) return this.later(() => this.chooseUnchecked());
    this.step(`the head of ${this.app.answer.forms[m - 1]} is right`, m, (sentence, state) => {
      state.heads = with_(state.heads, m);
    });
    return this.later(() => this.chooseUnchecked());
  }

  chooseUnchecked() {
    const { app } = this;
    const fixed = new Set(app.item.state.heads);
    const chance = (m) => app.answer.arc_probabilities[m - 1] ?? 0;
    const left = app.answer.forms.map((_, i) => i + 1).filter((m) => !fixed.has(m));
    if (!left.length) return say("Every head of this sentence is fixed.");
    const inTree = byId("tree").contains(document.activeElement);
    app.choose(left.reduce((best, m) => (chance(m) > chance(best) ? m : best)), inTree);
    app.tree.reveal(app.chosen);
  }

  setLabel(m, label) {
    return this.step(`label ${label}`, m, (sentence, state) => {
      if (/\s/.test(label)) throw new Error("A label has no spaces.");
      sentence.setArc(m, sentence.head(m), label);
      state.heads = with_(state.heads, m);
      state.labels = with_(state.labels, m);
    });
  }

  setTag(m, tag) {
    return this.step(`tag ${tag}`, m, (sentence, state) => {
      if (/\s/.test(tag)) throw new Error("A tag has no spaces.");
      sentence.set(m, 3, tag);
      state.tags = with_(state.tags, m);
    });
  }

  setCell(m, column, value) {
    return this.step("a column", m, (sentence) => {
      if (/[\t\r\n]/.test(value) || sentence.cell(m, column) === value) return false;
      sentence.set(m, column, value);
    });
  }

  parseAgain() {
    if (!this.app.work) return Promise.resolve();
    if (this.app.keeps) return this.later(() => this.app.refresh(this.app.chosen));
    return this.step("parse again", this.app.chosen, () => {}, { keep: false });
  }

  useFlipped() {
    if (!this.app.flipped) return Promise.resolve();
    return this.step("another tree", this.app.chosen, () => {}, { keep: true });
  }

  // Words and sentences

  splitWord(m) {
    const form = new Sentence(this.app.item.text).form(m);
    const half = Math.ceil(form.length / 2);
    const input = el("input", { id: "split-input", value: `${form.slice(0, half)} ${form.slice(half)}`, spellcheck: "false", autocomplete: "off" });
    const token = el("input", { type: "checkbox", id: "split-token" });
    const done = () => {
      const forms = input.value.trim().split(/\s+/);
      byId("dialog").close();
      if (forms.length < 2) return say("Put a space where the word is to be split.", true);
      this.restructure("split a word", m, (sentence) => {
        sentence.splitWord(m, forms, token.checked);
        return [sentence];
      }, (id) => (id > m ? id + forms.length - 1 : id));
    };
    const form_ = el("form", { class: "stack", onsubmit: (event) => { event.preventDefault(); done(); } },
      el("label", {}, "The word, with a space at each cut", input),
      el("label", { class: "check" }, token, " a multiword token: the words are not in the text as they are"),
      el("button", { class: "strong" }, "Split"));
    this.app.dialog(`Split “${form}”`, [form_]);
    input.select();
  }

  mergeWords(m) {
    if (m >= this.app.answer.forms.length) return Promise.resolve();
    return this.restructure("merge words", m, (sentence) => {
      sentence.mergeWords(m);
      return [sentence];
    }, (id) => (id === m + 1 ? null : id > m ? id - 1 : id));
  }

  splitSentence(m) {
    if (m < 2) return Promise.resolve();
    const sentence = new Sentence(this.app.item.text);
    const inToken = sentence.lines.some((line) => line.kind === "range" && cuts(line.columns[0], m));
    if (inToken) return this.later(() => Promise.reject(new Error("A multiword token cannot be in two sentences.")));
    return this.restructure("split a sentence", 1, (one) => one.splitAt(m), (id) => (id < m ? id : null));
  }

  mergeSentences() {
    const { app } = this;
    return this.later(async () => {
      const index = app.index;
      if (index >= app.work.total - 1) throw new Error("There is no next sentence.");
      const next = new Sentence((await app.work.get(index + 1)).text);
      const { sentence, state } = this.current();
      const made = sentence.joined(next);
      await this.keepAll("join sentences", index, 2, [{ sentence: made, state }]);
    });
  }

  restructure(what, m, change, map) {
    return this.later(async () => {
      const { sentence, state } = this.current();
      const marks = (list) => list.map(map).filter((id) => id !== null);
      const mapped = { ...state, heads: marks(state.heads), labels: marks(state.labels), tags: marks(state.tags), forbidden: [] };
      const made = change(sentence).map((one, i) => ({ sentence: one, state: i ? copyState({}) : mapped }));
      this.app.chosen = m;
      await this.keepAll(what, this.app.index, 1, made);
    });
  }

  // New sentences in place of old ones; words without a head are parsed.
  async keepAll(what, index, removed, made) {
    const items = [];
    for (const { sentence, state } of made) {
      const whole = sentence.heads.some((head) => head >= 0);
      sentence.setTree(await this.ask(sentence.toString(), { ...state, heads: [], labels: [], forbidden: [] }, whole));
      items.push({ text: sentence.toString(), state });
    }
    this.app.work.change(index, removed, items, what);
    await this.app.refresh(this.app.chosen);
    await showList(this.app);
  }

  // Steps

  undo() {
    return this.later(() => this.turned(this.app.work.undo()));
  }

  redo() {
    return this.later(() => this.turned(this.app.work.redo()));
  }

  async turned(step) {
    if (!step) return;
    if (!this.app.work.order) this.app.place = Math.min(step.start, this.app.work.total - 1);
    this.app.flipped = null;
    await this.app.refresh(this.app.chosen);
    await showList(this.app);
  }

  accept() {
    return this.later(async () => {
      const { app } = this;
      const { sentence, state } = this.current();
      state.accepted = true;
      app.work.change(app.index, 1, [{ text: sentence.toString(), state }], "accept");
      if (app.place < app.count - 1) await app.go(app.place + 1);
      else {
        await app.refresh(app.chosen);
        await showList(app);
        say("This was the last sentence.");
      }
      app.tree.focus(app.chosen);
    });
  }

  async explain(m) {
    try {
      const { sentence } = this.current();
      const head = sentence.head(m);
      const second = (this.app.answer.head_candidates[m - 1] || []).find(([h]) => h !== head);
      const answer = await call("/api/explain", { conllu: sentence.toString(), model: this.app.view.model, word: m, head, against: second ? second[0] : null });
      this.app.showExplanation(answer);
    } catch (error) {
      say(error.message, true);
    }
  }

  pick(m) {
    this.app.pick(m);
  }

  showChanges() {
    const changed = this.app.work.changed.filter(([item]) => item.original !== item.text);
    const parts = changed.slice(0, 200).map(([item, i]) => {
      const found = item.original ? differences(item.original, item.text) : null;
      const lines = found === null ? [el("li", {}, "the words are others")] :
        found.map(({ m, form, name, was, is }) => el("li", {}, `${m} ${form}: ${name} `, el("del", {}, was), " → ", el("ins", {}, is)));
      const revert = el("button", { type: "button", onclick: () => this.revert(i) }, "Take back");
      return el("section", { class: "change" }, el("h3", {}, `Sentence ${i + 1}`), el("ul", {}, lines), item.original ? revert : null);
    });
    const none = el("p", {}, "Nothing differs from the file.");
    this.app.dialog("Changes", parts.length ? [el("p", {}, `${changed.length} ${changed.length === 1 ? "sentence differs" : "sentences differ"} from the file.`), ...parts] : [none]);
  }

  revert(i) {
    byId("dialog").close();
    return this.later(async () => {
      const item = this.app.work.items[i];
      this.app.work.change(i, 1, [{ text: item.original, state: copyState({}) }], "take back");
      await this.app.refresh(this.app.chosen);
      await showList(this.app);
    });
  }
}

// With the rest kept, a new head can close a cycle or leave two roots: those words are parsed again,
// except those that are fixed. If only fixed arcs are in the way, the server says that there is no
// such tree.
function freeConflicts(sentence, state, m, head, singleRoot) {
  const free = (word) => {
    if (state.heads.includes(word)) return;
    for (const column of HEAD_AND_LABEL) sentence.set(word, column, "_");
  };
  const path = [];
  for (let at = head, left = sentence.length; at > 0 && left > 0; at = sentence.head(at), left--) {
    if (at === m) {
      path.forEach(free);
      break;
    }
    path.push(at);
  }
  if (head === 0 && singleRoot) {
    for (let word = 1; word <= sentence.length; word++) if (word !== m && sentence.head(word) === 0) free(word);
  }
}

function cuts(range, m) {
  const [first, last] = range.split("-").map(Number);
  return first < m && m <= last;
}
