// The sentences that are worked on. Every change replaces some sentences by others, so undoing it is
// the same change the other way round. A draft is kept in the browser; the server's own file is
// changed on the server, which writes each change to its journal before it answers.

import { call } from "./api.js";
import { splitSentences } from "./conllu.js";

const DRAFTS = "arbora:draft:"; // one for each file, and one for typed text
const LAST = "arbora:last"; // which of them was worked on last
const LARGEST = 2_500_000; // characters of a draft; browsers keep about five million
const PAGE = 50;

const emptyState = () => ({ heads: [], labels: [], tags: [], forbidden: [], accepted: false });
export const copyState = (state) => ({ ...emptyState(), ...structuredClone(state || {}) });

export class Work {
  constructor(name, items, { kind, digest = null, total = null, order = null, revision = 0 }) {
    this.name = name;
    this.kind = kind; // text, file or server
    this.items = items;
    this.total = total ?? items.length;
    this.digest = digest;
    this.order = order;
    this.revision = revision;
    this.past = [];
    this.future = [];
    this.unsaved = false;
    this.unsent = 0; // changes that the server has not answered yet
    this.onproblem = () => {};
    this.sending = Promise.resolve();
    this.nextKey = this.total;
  }

  static ofTexts(name, texts, options) {
    const items = texts.map((text, key) => ({ text, key, original: text, state: emptyState() }));
    return new Work(name, items, options);
  }

  static async ofFile(name, text) {
    const digest = await sha256(text);
    return Work.ofTexts(name, splitSentences(text), { kind: "file", digest });
  }

  static async ofServer() {
    const about = await call("/api/document");
    const options = { kind: "server", total: about.sentences, digest: about.base, order: about.order, revision: about.revision };
    const work = new Work(about.name, new Array(about.sentences), options);
    work.unsaved = about.changed;
    return work;
  }

  // A sentence, from the server if it is not here yet.
  async get(i) {
    if (!this.items[i]) await this.load(Math.floor(i / PAGE) * PAGE);
    return this.items[i];
  }

  async load(start) {
    const wanted = Array.from({ length: Math.min(PAGE, this.total - start) }, (_, k) => start + k);
    if (wanted.every((i) => this.items[i])) return;
    await this.sending;
    const page = await call(`/api/document/sentences?start=${start}&count=${PAGE}`);
    page.items.forEach((item, k) => {
      this.items[start + k] ??= { ...item, state: copyState(item.state) };
    });
  }

  // Replaces `removed` sentences from `start`; `what` names the change in the menu.
  change(start, removed, items, what) {
    const before = this.items.slice(start, start + removed);
    const keys = before.map((item) => item.key);
    const after = items.map((item, k) => ({
      ...item,
      key: keys[k] ?? this.nextKey++,
      original: before[k]?.original ?? "",
    }));
    this.past.push({ start, before, after, what });
    this.future = [];
    this.splice(start, removed, after);
  }

  undo() {
    const last = this.past.pop();
    if (!last) return null;
    this.future.push(last);
    this.splice(last.start, last.after.length, last.before);
    return last;
  }

  redo() {
    const next = this.future.pop();
    if (!next) return null;
    this.past.push(next);
    this.splice(next.start, next.before.length, next.after);
    return next;
  }

  splice(start, removed, items) {
    this.items.splice(start, removed, ...items);
    this.total = this.items.length;
    this.unsaved = true;
    if (this.kind === "server") this.send(start, removed, items);
    else this.keepDraft();
  }

  send(start, removed, items) {
    const sent = items.map(({ text, state }) => ({ text, state }));
    this.unsent++;
    this.sending = this.sending.then(async () => {
      for (;;) {
        try {
          const body = { revision: this.revision, start, removed, items: sent };
          this.revision = (await call("/api/document/changes", body)).revision;
          break;
        } catch (error) {
          this.onproblem(error);
          if (error.status !== 0 && error.status !== 503) break;
          await new Promise((done) => setTimeout(done, 1500)); // the server may come back
        }
      }
      this.unsent--;
    });
  }

  get changed() {
    return this.items.map((item, i) => [item, i]).filter(([item]) => item && item.text !== item.original);
  }

  get accepted() {
    return this.items.filter((item) => item?.state.accepted).length;
  }

  toString() {
    return this.items.map((item) => item.text).join("");
  }

  saved() {
    this.unsaved = false;
    if (this.kind === "server") for (const item of this.items) if (item) item.original = item.text;
    if (this.kind !== "server") this.keepDraft();
  }

  get draftKey() {
    return DRAFTS + (this.kind === "text" ? "text" : this.digest);
  }

  // The draft has everything if it is small; else only what has changed, for the same file again.
  keepDraft() {
    const history = { past: this.past, future: this.future };
    const about = { name: this.name, kind: this.kind, digest: this.digest, unsaved: this.unsaved };
    const marked = this.items.map((item, i) => [i, item]).filter(([, item]) => item.state.accepted || item.text !== item.original);
    const size = this.items.reduce((sum, item) => sum + item.text.length, 0);
    const lean = (items) => items.map((item) => (item.original === item.text ? { ...item, original: undefined } : item));
    const attempts = [
      () => ({ ...about, items: lean(this.items), history }),
      () => ({ ...about, items: lean(this.items) }),
      () => ({ ...about, total: this.total, changed: marked }),
    ];
    for (const attempt of attempts.slice(size > LARGEST ? 2 : 0)) {
      const text = JSON.stringify(attempt());
      if (text.length > LARGEST) continue;
      if (stored(this.draftKey, text) || (forgetSaved(this.draftKey) && stored(this.draftKey, text))) {
        return stored(LAST, this.draftKey);
      }
    }
    const others = draftKeys().filter((key) => key !== this.draftKey).map((key) => readDraft(key)?.name);
    const beside = others.length ? ` beside ${others.length === 1 ? "that" : "those"} of ${others.join(", ")}` : "";
    this.onproblem(new Error(`The browser has no room for a draft${beside}: save the file.`));
    return false;
  }

  // The draft of this work, if it is of a file that was opened before.
  get draft() {
    return readDraft(this.draftKey);
  }

  static lastDraft() {
    return readDraft(localStorage.getItem(LAST) || "");
  }

  static fromDraft(draft) {
    const work = new Work(draft.name, draft.items, { kind: draft.kind, digest: draft.digest });
    work.past = draft.history?.past ?? [];
    work.future = draft.history?.future ?? [];
    work.unsaved = draft.unsaved;
    work.nextKey = 1 + Math.max(...draft.items.map((item) => item.key));
    return work;
  }

  // The changes of a draft of the same file; false if it is of another one.
  takeDraft(draft) {
    if (!draft || draft.digest !== this.digest || this.kind !== "file") return false;
    if (draft.items) this.items = draft.items;
    else if (draft.total !== this.total) return false;
    else for (const [i, item] of draft.changed) this.items[i] = item;
    this.past = draft.history?.past ?? [];
    this.future = draft.history?.future ?? [];
    this.total = this.items.length;
    this.unsaved = draft.unsaved;
    return true;
  }
}

function draftKeys() {
  return Object.keys(localStorage).filter((key) => key.startsWith(DRAFTS));
}

function readDraft(key) {
  try {
    const draft = JSON.parse(localStorage.getItem(key) || "null");
    for (const item of draft?.items ?? []) item.original ??= item.text;
    return draft;
  } catch {
    return null;
  }
}

// Whether there was room for it.
function stored(key, text) {
  try {
    localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

// Makes room: drafts of other files without unsaved work go. Tells whether there were any.
function forgetSaved(own) {
  const gone = draftKeys().filter((key) => key !== own && !readDraft(key)?.unsaved);
  for (const key of gone) localStorage.removeItem(key);
  return gone.length > 0;
}

export async function sha256(text) {
  if (!globalThis.crypto?.subtle) return `${text.length}:${text.slice(0, 200)}`; // no secure context
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
