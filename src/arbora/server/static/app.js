// The page: what is open, which sentence is shown, and what happens when something is done.

import { call } from "./api.js";
import { Sentence } from "./conllu.js";
import { Corrections } from "./corrections.js";
import { Work } from "./document.js";
import { byId, download, el, percent, say } from "./dom.js";
import { keyHandler, showKeys } from "./keys.js";
import { showList } from "./list.js";
import { explanation, showPanel } from "./panel.js";
import { addTraining } from "./retrain.js";
import { TreeView } from "./tree.js";

const EXAMPLE = "She saw the man with a telescope.";

class App {
  constructor() {
    this.models = [];
    this.work = null;
    this.place = 0; // in the order in which sentences are shown
    this.chosen = 1;
    this.answer = null;
    this.flipped = null;
    this.do = new Corrections(this);
    this.tree = new TreeView(byId("tree"), {
      select: (m) => this.choose(m),
      head: (m, h) => this.do.setHead(m, h),
      arc: (m, event) => this.popup(m, event),
      key: keyHandler(this),
    });
  }

  get model() {
    return this.models.find((one) => one.name === byId("model").value) || this.models[0];
  }

  get index() {
    const order = this.work.order;
    if (!order) return this.place;
    const key = order[this.place]?.sentence;
    const found = this.work.items.findIndex((item, i) => (item ? item.key : i) === key);
    return found < 0 ? 0 : found;
  }

  get count() {
    return this.work.order ? this.work.order.length : this.work.total;
  }

  get item() {
    return this.work.items[this.index];
  }

  get view() {
    const value = (name) => document.querySelector(`input[name=${name}]:checked`)?.value;
    return { model: this.model.name, decode: value("decode"), trees: value("trees"), root: value("root") };
  }

  get keeps() {
    return document.querySelector("input[name=rest]:checked")?.value === "keep";
  }

  async start() {
    const about = await call("/api/models");
    this.models = about.models;
    byId("model").replaceChildren(...about.models.map((one) => el("option", { value: one.name }, one.name)));
    this.showModel();
    if (about.retraining) addTraining(this);
    if (about.document) await this.take(await Work.ofServer());
    else if (!(await this.restore())) {
      byId("text").value = EXAMPLE;
      await this.parseText();
    }
    document.body.dataset.ready = "yes";
  }

  async restore() {
    const draft = Work.lastDraft();
    if (!draft) return false;
    if (!draft.items) {
      say(`There is a draft of ${draft.name}: open the file again to continue.`, true);
      return false;
    }
    const work = Work.fromDraft(draft);
    if (work.kind === "text") byId("text").value = work.items.map((item) => new Sentence(item.text).text).join(" ");
    await this.take(work);
    return true;
  }

  showModel() {
    const model = this.model;
    for (const [name, value] of [["decode", model.decoders.includes("map") ? "map" : "mbr"], ["trees", model.trees], ["root", model.root]]) {
      for (const input of document.querySelectorAll(`input[name=${name}]`)) input.checked = input.value === value;
    }
    for (const input of document.querySelectorAll("input[name=decode]")) input.disabled = !model.decoders.includes(input.value);
    for (const id of ["flip-best", "flip-samples"]) byId(id).disabled = !model.kbest;
    const about = [model.data, model.licence, model.las ? `LAS ${model.las.toFixed(1)} on dev` : ""].filter(Boolean).join(", ");
    byId("model").title = about;
    byId("typing").hidden = !model.stages.includes("segmenter");
  }

  // Opening

  async parseText() {
    const text = byId("text").value.trim();
    if (!text) return say("Type or paste a text first.", true);
    const { model, decode, trees, root } = this.view;
    const answer = await call("/api/parse", { text, model, decode, trees, root });
    if (!answer.sentences.length) return say("There are no words in this text.", true);
    const work = Work.ofTexts("text.conllu", answer.sentences.map((one) => one.conllu), { kind: "text" });
    await this.take(work);
  }

  async openFile(file) {
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer());
    } catch {
      return say(`${file.name} is not UTF-8: convert it first.`, true);
    }
    const work = await Work.ofFile(file.name, text);
    const first = work.items.length ? new Sentence(work.items[0].text) : null;
    if (!first || !first.length) {
      byId("text").value = text.slice(0, 200_000);
      return this.parseText();
    }
    if (work.takeDraft(work.draft)) say(`Your draft of ${file.name} is here again.`);
    await this.take(work);
  }

  async take(work) {
    this.work = work;
    this.place = 0;
    work.onproblem = (error) => say(error.message, true);
    if (work.kind !== "server") work.keepDraft();
    const first = new Sentence((await work.get(this.index)).text);
    const byParser = /ArcProb=|^# arbora\./m.test(first.toString());
    const keep = work.kind !== "text" && first.isTree && !byParser;
    document.querySelector(`input[name=rest][value=${keep ? "keep" : "parse"}]`).checked = true;
    byId("typing").hidden = work.kind !== "text" || !this.model.stages.includes("segmenter");
    await this.go(0);
  }

  // Showing

  async go(place, word = null) {
    if (place < 0 || place >= this.count) return;
    this.place = place;
    this.flipped = null;
    if (this.work.kind === "server") await this.work.load(Math.floor(this.index / 50) * 50);
    await this.refresh(word ?? this.work.order?.[place]?.word ?? null);
    await showList(this);
  }

  // Asks about the sentence as it is, and shows it.
  async refresh(word = null) {
    const item = this.item;
    const began = performance.now();
    try {
      this.answer = await this.do.ask(item.text, item.state, new Sentence(item.text).heads.some((h) => h >= 0));
    } catch (error) {
      this.answer = this.do.unanswered(item.text);
      say(error.message, true);
    }
    this.took = performance.now() - began;
    this.chosen = Math.min(word ?? leastSure(this.answer), this.answer.forms.length);
    this.render();
    this.tree.reveal(this.chosen);
  }

  render() {
    const item = this.item, answer = this.shownTree();
    const sentence = new Sentence(item.text);
    byId("sentence").hidden = false;
    const reason = this.work.order?.[this.place]?.reason;
    const own = sentence.comment("sent_id"), number = `Sentence ${this.index + 1}`;
    byId("title").textContent = own && own !== String(this.index + 1) ? `${number}, ${own}` : number;
    byId("running").textContent = sentence.text;
    byId("running").hidden = this.work.kind === "text" && this.count === 1;
    byId("why").textContent = reason || "";
    byId("why").hidden = !reason;
    this.tree.show({
      forms: answer.forms, tags: answer.upos.map((tag, i) => (tag === "_" ? answer.xpos[i] : tag)),
      heads: answer.heads, labels: answer.labels, probabilities: answer.arc_probabilities,
      others: answer.head_candidates, forbidden: item.state.forbidden, right_to_left: answer.right_to_left,
      fixed: { heads: new Set(item.state.heads), tags: new Set(item.state.tags) },
      multiword: answer.multiword, tagged: answer.tag_candidates, picking: this.picking, set: answer.head_sets ? new Set(answer.head_sets[this.chosen - 1]) : null,
    }, this.chosen);
    showPanel(byId("panel"), { sentence, m: this.chosen, answer, state: item.state, names: this.model, act: this.do });
    this.showFacts(answer);
    this.showState();
  }

  shownTree() {
    return this.flipped ? { ...this.answer, ...this.flipped.trees[this.flipped.at] } : this.answer;
  }

  showFacts(answer) {
    const parts = [];
    if (answer.entropy !== null) parts.push(`entropy ${answer.entropy.toFixed(2)} bits`);
    if (answer.log_prob !== null) parts.push(`this tree ${percent(Math.exp(answer.log_prob))}`);
    if (answer.expected_errors !== null) parts.push(`${answer.expected_errors.toFixed(1)} heads expected wrong`);
    if (this.answer.milliseconds) parts.push(`parsed in ${this.answer.milliseconds.toFixed(0) || "< 1"} ms, shown in ${Math.round(this.took)} ms`);
    if (answer.source) parts.push(`probabilities: ${answer.source}`);
    if (this.view.root !== this.model.root) parts.push(`this model was trained with ${this.model.root === "single" ? "one root" : "any number of roots"}`);
    byId("facts").textContent = parts.join(" · ");
  }

  showState() {
    const work = this.work;
    byId("undo").disabled = !work.past.length;
    byId("redo").disabled = !work.future.length;
    byId("undo").title = work.past.length ? `Undo: ${work.past[work.past.length - 1].what}` : "";
    byId("before").disabled = this.place === 0;
    byId("after").disabled = this.place >= this.count - 1;
    byId("accept").textContent = this.item.state.accepted ? "Accepted, next" : "Accept, next";
    byId("accept").setAttribute("aria-pressed", String(Boolean(this.item.state.accepted)));
    byId("flipping").hidden = !this.flipped;
    if (this.flipped) {
      const one = this.flipped.trees[this.flipped.at];
      const chance = one.log_prob === null ? "" : `, ${percent(Math.exp(one.log_prob))}`;
      byId("flip-now").textContent = `${this.flipped.at + 1} of ${this.flipped.trees.length}${chance}`;
    }
    document.title = `${work.unsaved ? "• " : ""}${work.name} – Arbora`;
  }

  choose(m, focus = true) {
    if (this.picking !== undefined) {
      const from = this.pickedFor;
      this.endPicking();
      if (m !== from) return this.do.setHead(from, m);
    }
    this.chosen = m;
    this.render();
    if (focus) this.tree.focus(m);
  }

  // Choosing a head: the next word that is chosen becomes the head.
  pick(m) {
    this.pickedFor = m;
    this.picking = this.answer.heads[m - 1] || m;
    byId("tree").classList.add("picking");
    say(`Choose the head of “${this.answer.forms[m - 1]}”: click it, or use the arrow keys and Enter; 0 is the root, Esc cancels.`, true);
    this.render();
    this.tree.focus(m);
  }

  endPicking() {
    this.picking = this.pickedFor = undefined;
    byId("tree").classList.remove("picking");
    say("");
  }

  popup(m, event) {
    this.choose(m, false);
    const box = byId("popup"), head = this.answer.heads[m - 1];
    const done = (action) => () => {
      box.hidden = true;
      action();
    };
    const fixed = this.item.state.heads.includes(m);
    box.replaceChildren(
      el("button", { type: "button", onclick: done(() => this.do.toggleFixed(m)) }, fixed ? "Release" : "Require"),
      el("button", { type: "button", onclick: done(() => this.do.forbid(m, head)) }, "Forbid"),
      el("button", { type: "button", onclick: done(() => this.do.explain(m)) }, "Why?"),
    );
    box.hidden = false;
    const width = document.documentElement.clientWidth;
    box.style.left = `${Math.max(8, Math.min(event.clientX - 60, width - box.offsetWidth - 8))}px`;
    box.style.top = `${event.clientY + window.scrollY + 10}px`;
    box.firstElementChild.focus();
  }

  dialog(title, children) {
    byId("dialog-title").textContent = title;
    byId("dialog-body").replaceChildren(...children.filter(Boolean));
    byId("dialog").showModal();
  }

  showExplanation(answer) {
    this.dialog(`Why “${this.answer.forms[answer.word - 1]}” is there`, explanation(new Sentence(this.item.text), answer));
  }

  // Other trees

  async flip(samples) {
    const { conllu, ...rest } = this.do.question(this.item.text, this.item.state);
    const answer = await call("/api/kbest", { conllu, ...rest, count: 10, samples, seed: samples ? Math.floor(Math.random() * 1e9) : 0 });
    this.flipped = { trees: answer.trees, at: 0 };
    this.render();
  }

  turn(by) {
    if (!this.flipped) return;
    const count = this.flipped.trees.length;
    this.flipped.at = (this.flipped.at + by + count) % count;
    this.render();
  }

  // Saving

  async save() {
    if (this.work.kind === "server") {
      await this.work.sending;
      const answer = await call("/api/document/save", {});
      say(`Saved ${answer.file}.`);
    } else download(this.work.name, this.work.toString(), "text/plain");
    this.work.saved();
    this.render();
    await showList(this);
  }

  async draw(format, ending) {
    const sentence = new Sentence(this.item.text);
    const tree = this.shownTree();
    sentence.setTree(tree);
    const known = tree.arc_probabilities.every((p) => p !== null) ? tree.arc_probabilities : null;
    const text = await call("/api/draw", { conllu: sentence.toString(), format, probabilities: known });
    download(`tree.${ending}`, text, "text/plain");
  }
}

function leastSure(answer) {
  let best = 1;
  answer.arc_probabilities.forEach((p, i) => {
    if (p !== null && p < (answer.arc_probabilities[best - 1] ?? 2)) best = i + 1;
  });
  return best;
}

const app = new App();
const safely = (action) => async (...given) => {
  try {
    await action(...given);
  } catch (error) {
    say(error.message, true);
  }
};
const on = (id, action, event = "click") => byId(id).addEventListener(event, safely(action));

on("typing", (event) => {
  event.preventDefault();
  return app.parseText();
}, "submit");
on("text", (event) => {
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    return app.parseText();
  }
}, "keydown");
on("new", () => {
  byId("typing").hidden = false;
  byId("text").select();
  byId("text").focus();
});
on("open", () => byId("file").click());
on("file", async () => {
  const [file] = byId("file").files;
  byId("file").value = "";
  if (file) await app.openFile(file);
}, "change");
on("model", () => {
  app.showModel();
  return app.work && app.refresh(app.chosen);
}, "change");
for (const id of ["decode", "trees", "root"]) on(id, () => app.do.parseAgain(), "change");
on("before", () => app.go(app.place - 1));
on("after", () => app.go(app.place + 1));
on("undo", () => app.do.undo());
on("redo", () => app.do.redo());
on("accept", () => app.do.accept());
on("changes", () => app.do.showChanges());
on("flip-best", () => app.flip(false));
on("flip-samples", () => app.flip(true));
on("flip-before", () => app.turn(-1));
on("flip-next", () => app.turn(1));
on("flip-use", () => app.do.useFlipped());
on("flip-end", () => {
  app.flipped = null;
  app.render();
});
on("save-file", () => app.save());
on("save-svg", () => app.draw("svg", "svg"));
on("save-latex", () => app.draw("latex", "tex"));
on("saving", (event) => event.target.closest("button") && (byId("saving").open = false));
on("help", () => showKeys(app));
document.addEventListener("keydown", safely(async (event) => {
  if (event.key === "Escape") byId("popup").hidden = true;
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const key = event.key.toLowerCase();
  const typing = event.target.closest("textarea, input:not([type=radio])");
  const again = key === "y" || (key === "z" && event.shiftKey);
  if (key === "s" || ((key === "z" || key === "y") && !typing)) event.preventDefault();
  if (key === "s") await app.save();
  else if (typing) return;
  else if (again) await app.do.redo();
  else if (key === "z") await app.do.undo();
}));
document.addEventListener("pointerdown", (event) => {
  if (!event.target.closest("#popup, .arc")) byId("popup").hidden = true;
  if (!event.target.closest("#saving")) byId("saving").open = false;
});
window.addEventListener("beforeunload", (event) => {
  if (app.work?.unsent) event.preventDefault(); // all else is in the draft or in the journal
});

safely(() => app.start())();
export { app };
