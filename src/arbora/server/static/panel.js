// What is known about the chosen word: its heads, labels and tags, and what can be done with it.

import { COLUMN } from "./conllu.js";
import { el, percent } from "./dom.js";

function bar(p) {
  const inside = el("span", { class: "fill" });
  inside.style.width = `${Math.round((p ?? 0) * 100)}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, inside);
}

function row({ name, detail = "", p, is, label, choose, more }) {
  const button = el("button", { type: "button", class: is ? "row is" : "row", "aria-pressed": String(Boolean(is)), "aria-label": label, onclick: choose },
    el("span", { class: "name" }, name, detail ? el("small", {}, detail) : null), bar(p), el("span", { class: "percent" }, percent(p)));
  return el("li", {}, button, more);
}

function card(title, ...children) {
  return el("section", { class: "card" }, el("h3", {}, title), ...children);
}

// A field with suggestions, for a label or tag that is not in the list.
function other(id, title, names, choose) {
  const input = el("input", { id, list: `${id}-names`, autocomplete: "off", spellcheck: "false", placeholder: "other", "aria-label": title });
  input.addEventListener("change", () => input.value.trim() && choose(input.value.trim()));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") input.blur();
  });
  const options = names.map((name) => el("option", { value: name }));
  return el("p", { class: "other-name" }, input, el("datalist", { id: `${id}-names` }, options));
}

function heads(view) {
  const { sentence, m, answer, state, act } = view;
  const head = answer.heads[m - 1];
  const listed = (answer.head_candidates[m - 1] || []).slice(0, 6);
  if (!listed.some(([h]) => h === head)) listed.push([head, answer.arc_probabilities[m - 1] ?? null]);
  const rows = listed.map(([h, p], i) => {
    const form = h === 0 ? "root" : sentence.form(h);
    const forbid = el("button", { type: "button", class: "small", title: "Forbid this arc", "aria-label": `Forbid ${form} as head`, onclick: () => act.forbid(m, h) }, "✕");
    return row({ name: form, detail: h === 0 ? "" : String(h), p, is: h === head, label: `Head ${i + 1}: ${form}, ${percent(p)}`, choose: () => act.setHead(m, h), more: forbid });
  });
  const barred = state.forbidden.filter(([, word]) => word === m).map(([h]) => {
    const form = h === 0 ? "root" : sentence.form(h);
    return el("li", { class: "barred" }, el("span", {}, `not ${form}`), el("button", { type: "button", class: "small", "aria-label": `Allow ${form} as head again`, onclick: () => act.allow(m, h) }, "allow"));
  });
  const fixed = state.heads.includes(m);
  return card("Head", el("ol", { class: "rows" }, rows, barred),
    el("p", { class: "buttons" },
      el("button", { type: "button", title: "Fix this head, and check the surest of the rest", onclick: () => act.confirm(m) }, "Right, next"),
      el("button", { type: "button", "aria-pressed": String(fixed), onclick: () => act.toggleFixed(m) }, fixed ? "Release" : "Fix"),
      el("button", { type: "button", onclick: () => act.pick(m) }, "Choose a head"),
      el("button", { type: "button", onclick: () => act.explain(m) }, "Why?")));
}

function labels(view) {
  const { m, answer, names, act } = view;
  const now = answer.labels[m - 1];
  const listed = (answer.label_candidates[m - 1] || []).slice(0, 6);
  if (!listed.some(([name]) => name === now)) listed.unshift([now, answer.label_probabilities[m - 1] ?? null]);
  const rows = listed.map(([name, p]) => row({ name, p, is: name === now, label: `Label ${name}, ${percent(p)}`, choose: () => act.setLabel(m, name) }));
  return card("Label", el("ol", { class: "rows" }, rows), other("label-input", "Another label", names.labels, (name) => act.setLabel(m, name)));
}

function tags(view) {
  const { m, answer, names, act } = view;
  const now = answer.upos[m - 1];
  const listed = (answer.tag_candidates[m - 1] || []).slice(0, 5);
  if (!listed.some(([name]) => name === now)) listed.unshift([now, null]);
  const rows = listed.map(([name, p]) => row({ name, p, is: name === now, label: `Tag ${name}, ${percent(p)}`, choose: () => act.setTag(m, name) }));
  return card("Tag", el("ol", { class: "rows" }, rows), other("tag-input", "Another tag", names.tags, (name) => act.setTag(m, name)));
}

function word(view) {
  const { sentence, m, answer, act } = view;
  const columns = { lemma: answer.lemmas[m - 1], xpos: answer.xpos[m - 1], feats: answer.feats[m - 1] };
  const titles = { lemma: "Lemma", xpos: "Fine tag", feats: "Features" };
  const fields = Object.entries(columns).map(([name, value]) => {
    const input = el("input", { id: `field-${name}`, value, spellcheck: "false", autocomplete: "off" });
    input.addEventListener("change", () => act.setCell(m, COLUMN[name], input.value.trim() || "_"));
    return el("label", {}, titles[name], input);
  });
  const last = m === sentence.length;
  return card("Word", el("div", { class: "fields" }, fields),
    el("p", { class: "buttons" },
      el("button", { type: "button", id: "split-word", onclick: () => act.splitWord(m) }, "Split"),
      el("button", { type: "button", disabled: last, onclick: () => act.mergeWords(m) }, "Merge with next"),
      el("button", { type: "button", disabled: m === 1, onclick: () => act.splitSentence(m) }, "New sentence here"),
      el("button", { type: "button", onclick: () => act.mergeSentences() }, "Join next sentence")));
}

export function showPanel(container, view) {
  const { sentence, m, answer } = view;
  const kept = container.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") || document.activeElement.id : null;
  const head = answer.heads[m - 1];
  const under = head === 0 ? "the root" : head > 0 ? `“${sentence.form(head)}”` : "nothing";
  const title = el("h3", { class: "chosen-word" }, el("strong", {}, sentence.form(m)), ` ${answer.labels[m - 1]} of ${under}`);
  container.replaceChildren(title, el("div", { class: "cards" }, heads(view), labels(view), tags(view), word(view)));
  if (kept) {
    const same = [...container.querySelectorAll("button, input")].find((one) => one.getAttribute("aria-label") === kept || one.id === kept);
    same?.focus({ preventScroll: true });
  }
}

// The features behind an arc, as a table.
export function explanation(sentence, answer) {
  const name = (h) => (h === 0 ? "the root" : `“${sentence.form(h)}”`);
  const largest = Math.max(...answer.contributions.map((one) => Math.abs(one.value)), 1e-9);
  const rows = answer.contributions.map((one) => {
    const inside = el("span", { class: one.value < 0 ? "fill against" : "fill" });
    inside.style.width = `${(Math.abs(one.value) / largest) * 100}%`;
    return el("tr", {}, el("td", { class: "number" }, (one.value >= 0 ? "+" : "−") + Math.abs(one.value).toFixed(3)),
      el("td", {}, el("span", { class: "bar", "aria-hidden": "true" }, inside)),
      el("td", {}, one.template), el("td", {}, one.atoms.join(" · ")), el("td", {}, one.variant));
  });
  const rest = answer.features - answer.contributions.length;
  return [
    el("p", {}, `${name(answer.head)} rather than ${name(answer.against)} as the head of ${name(answer.word)}: ${answer.explains}, ${answer.score.toFixed(2)} against ${answer.against_score.toFixed(2)}.`),
    el("div", { class: "scroll", tabIndex: 0, role: "group", "aria-label": "Features" }, el("table", {}, el("thead", {}, el("tr", {}, ["adds", "", "template", "values", "direction, distance"].map((one) => el("th", {}, one)))), el("tbody", {}, rows))),
    rest > 0 ? el("p", {}, `${rest} more features.`) : null,
  ];
}
