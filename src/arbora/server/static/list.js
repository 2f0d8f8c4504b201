// The list of sentences, page by page.

import { Sentence } from "./conllu.js";
import { byId, el } from "./dom.js";

const PAGE = 50;
let page = 0, shownPlace = -1, wired = null;

export async function showList(app) {
  const box = byId("list");
  box.hidden = app.count < 2;
  document.body.classList.toggle("listed", !box.hidden);
  if (box.hidden) return;
  if (shownPlace !== app.place) page = Math.floor(app.place / PAGE);
  shownPlace = app.place;
  page = Math.max(0, Math.min(page, Math.ceil(app.count / PAGE) - 1));
  const start = page * PAGE, end = Math.min(start + PAGE, app.count);
  await fetchPage(app, start, end);
  const entries = [];
  for (let place = start; place < end; place++) entries.push(entry(app, place));
  byId("sentences").replaceChildren(...entries);
  byId("sentences").start = start + 1;
  const accepted = app.work.accepted;
  byId("list-title").textContent = `${app.work.name}: ${app.count.toLocaleString("en")} sentences${accepted ? `, ${accepted} accepted` : ""}`;
  byId("page-now").textContent = `${start + 1}–${end}`;
  byId("page-before").disabled = page === 0;
  byId("page-next").disabled = end >= app.count;
  byId("sentences").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  if (wired !== app) {
    wired = app;
    byId("page-before").addEventListener("click", () => turn(app, -1));
    byId("page-next").addEventListener("click", () => turn(app, 1));
    if (matchMedia("(max-width: 60rem)").matches) byId("list-box").open = false;
  }
}

async function turn(app, by) {
  page += by;
  await showList(app);
}

async function fetchPage(app, start, end) {
  if (app.work.kind !== "server") return;
  const places = new Set();
  for (let place = start; place < end; place++) places.add(Math.floor(position(app, place) / PAGE) * PAGE);
  for (const one of places) await app.work.load(one);
}

function position(app, place) {
  const order = app.work.order;
  if (!order) return place;
  const found = app.work.items.findIndex((item, i) => (item ? item.key : i) === order[place].sentence);
  return found < 0 ? 0 : found;
}

function entry(app, place) {
  const index = position(app, place), item = app.work.items[index];
  const sentence = new Sentence(item.text), suggestion = app.work.order?.[place];
  const marks = [];
  if (item.state.accepted) marks.push(el("span", { class: "mark accepted", title: "accepted" }, "✓"));
  if (item.text !== item.original) marks.push(el("span", { class: "mark changed", title: "changed" }, "●"));
  const about = [item.state.accepted ? "accepted" : "", item.text !== item.original ? "changed" : ""].filter(Boolean).join(", ");
  const now = place === app.place;
  const button = el("button", { type: "button", class: "entry", "aria-current": now ? "true" : null, onclick: () => app.go(place) },
    el("span", { class: "number" }, String(index + 1)),
    el("span", { class: "beginning" }, sentence.text.slice(0, 90)),
    suggestion?.score !== undefined && suggestion?.score !== null ? el("span", { class: "score", title: suggestion.reason }, suggestion.score.toFixed(2)) : null,
    marks, about ? el("span", { class: "hidden" }, about) : null);
  return el("li", {}, button);
}
