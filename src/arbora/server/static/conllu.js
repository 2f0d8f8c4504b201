// Sentences of CoNLL-U and CoNLL-X: every byte is kept but for the fields that change.

const ID = 0, FORM = 1, LEMMA = 2, UPOS = 3, XPOS = 4, FEATS = 5, HEAD = 6, DEPREL = 7, DEPS = 8, MISC = 9;
export const COLUMN = { form: FORM, lemma: LEMMA, upos: UPOS, xpos: XPOS, feats: FEATS, misc: MISC };

const linesOf = (text) => text.match(/[^\n]*\n|[^\n]+$/g) || [];
const isBlank = (line) => line.trim() === "" || line.trim() === "\ufeff";

// The texts of the sentences of a file; joined, they are the file again.
export function splitSentences(text) {
  const found = [];
  let current = "", hasWords = false, ended = false;
  for (const line of linesOf(text)) {
    if (isBlank(line)) ended = hasWords;
    else if (ended) {
      found.push(current);
      current = "";
      hasWords = ended = false;
    }
    current += line;
    if (!isBlank(line) && !line.startsWith("#")) hasWords = true;
  }
  if (hasWords || !found.length) found.push(current);
  else found[found.length - 1] += current;
  return hasWords || found.length > 1 || found[0] ? found : [];
}

function readLine(raw) {
  const end = raw.endsWith("\r\n") ? "\r\n" : raw.endsWith("\n") ? "\n" : "";
  const body = raw.slice(0, raw.length - end.length);
  const columns = body.split("\t");
  let kind = "other";
  if (body.replace("\ufeff", "").startsWith("#")) kind = "comment";
  else if (columns.length >= 8) {
    const id = columns[ID].replace("\ufeff", "");
    if (/^\d+$/.test(id)) kind = "word";
    else if (/^\d+-\d+$/.test(id)) kind = "range";
    else if (/^\d+\.\d+$/.test(id)) kind = "empty";
  }
  return { kind, columns, end };
}

// "4:nsubj|5.1:conj" with other numbers of words.
function renumberDeps(deps, map) {
  if (deps === undefined || deps === "_" || !/^\d/.test(deps)) return deps;
  return deps
    .split("|")
    .map((item) => item.replace(/^(\d+)/, (id) => String(map(Number(id)))))
    .join("|");
}

export class Sentence {
  constructor(text) {
    this.lines = linesOf(text).map(readLine);
    this.words = this.lines.filter((line) => line.kind === "word");
  }

  toString() {
    return this.lines.map((line) => line.columns.join("\t") + line.end).join("");
  }

  copy() {
    return new Sentence(this.toString());
  }

  get length() {
    return this.words.length;
  }

  cell(m, column) {
    return this.words[m - 1].columns[column] ?? "_";
  }

  set(m, column, value) {
    this.words[m - 1].columns[column] = value;
  }

  form(m) {
    return m === 0 ? "ROOT" : this.cell(m, FORM);
  }

  head(m) {
    const text = this.cell(m, HEAD);
    return /^\d+$/.test(text) ? Number(text) : -1;
  }

  label(m) {
    return this.cell(m, DEPREL);
  }

  get heads() {
    return this.words.map((_, i) => this.head(i + 1));
  }

  get isTree() {
    return this.heads.every((head) => head >= 0);
  }

  comment(key) {
    for (const line of this.lines) {
      if (line.kind !== "comment") continue;
      const found = /^\ufeff?#\s*([^=]*?)\s*=\s*(.*)$/.exec(line.columns.join("\t"));
      if (found && found[1] === key) return found[2].trim();
    }
    return null;
  }

  setComment(key, value) {
    for (const line of this.lines) {
      const text = line.columns.join("\t");
      const found = /^\ufeff?#\s*([^=]*?)\s*=/.exec(text);
      if (line.kind === "comment" && found && found[1] === key) {
        line.columns = [`# ${key} = ${value}`];
        return;
      }
    }
  }

  // The text as it is written: tokens with the spaces that MISC tells.
  get surface() {
    let text = "", until = 0;
    for (const line of this.lines) {
      if (line.kind !== "word" && line.kind !== "range") continue;
      const [first, last] = line.columns[ID].split("-").map(Number);
      if (first <= until) continue;
      until = last || first;
      const glued = /(^|\|)SpaceAfter=No(\||$)/.test(line.columns[MISC] || "");
      text += line.columns[FORM] + (glued ? "" : " ");
    }
    return text.trim();
  }

  get text() {
    return this.comment("text") ?? this.surface;
  }

  // Another head or label; the same edge in DEPS changes with it.
  setArc(m, head, label) {
    const columns = this.words[m - 1].columns;
    const before = `${columns[HEAD]}:${columns[DEPREL]}`;
    const after = `${head}:${label}`;
    if (before === after) return;
    columns[HEAD] = head < 0 ? "_" : String(head);
    columns[DEPREL] = label;
    if (columns[DEPS] && columns[DEPS] !== "_" && head >= 0) {
      const items = columns[DEPS].split("|").map((item) => (item === before ? after : item));
      items.sort((a, b) => parseFloat(a) - parseFloat(b));
      columns[DEPS] = items.join("|");
    }
  }

  // Heads and labels from an answer of the server, and tags where there were none.
  setTree(answer) {
    answer.heads.forEach((head, i) => this.setArc(i + 1, head, answer.labels[i]));
    this.fillTags(answer);
  }

  // Words without a tag get one, and what else the sentence has: a file without fine tags stays so.
  fillTags(answer) {
    const bare = this.words.map((word, i) => [word.columns, i]).filter(([columns]) => columns[UPOS] === "_");
    const whole = bare.length === this.length;
    for (const [name, column] of Object.entries({ lemmas: LEMMA, upos: UPOS, xpos: XPOS, feats: FEATS })) {
      const used = whole || column === UPOS || this.words.some((word) => word.columns[column] !== "_");
      for (const [columns, i] of bare) if (used && columns[column] === "_" && answer[name]) columns[column] = answer[name][i];
    }
  }

  // Numbers of words changed by a function; heads that map to nothing become unknown.
  renumber(map, skipped = new Set()) {
    for (const line of this.lines) {
      if (line.kind === "other" || line.kind === "comment" || skipped.has(line)) continue;
      const columns = line.columns;
      columns[ID] = columns[ID].replace(/\d+/, (id) => String(map(Number(id))));
      if (line.kind === "range") {
        columns[ID] = columns[ID].replace(/-(\d+)/, (_, id) => `-${map(Number(id), true)}`);
      }
      if (/^\d+$/.test(columns[HEAD])) columns[HEAD] = String(map(Number(columns[HEAD])));
      columns[DEPS] = renumberDeps(columns[DEPS], map);
    }
  }

  // Word m as several words; the first keeps its place in the tree, the others are new.
  splitWord(m, forms, asToken) {
    const line = this.words[m - 1], more = forms.length - 1;
    const whole = [...line.columns];
    this.renumber((id) => (id > m ? id + more : id));
    for (const other of this.lines) {
      if (other.kind !== "range") continue;
      const [first, last] = other.columns[ID].split("-").map(Number);
      if (first <= m && m === last) other.columns[ID] = `${first}-${last + more}`;
      if (first <= m && m <= last) asToken = false;
    }
    const misc = whole[MISC] ?? "_";
    const glued = misc === "_" ? "SpaceAfter=No" : /SpaceAfter=No/.test(misc) ? misc : `SpaceAfter=No|${misc}`;
    const inside = this.isInside(m);
    const made = forms.map((form, i) => {
      const columns = whole.map((_, c) => (c === ID ? String(m + i) : c === FORM ? form : "_"));
      if (i === 0) for (const c of [HEAD, DEPREL, DEPS]) if (c < whole.length) columns[c] = line.columns[c];
      if (!asToken && !inside && MISC < whole.length) columns[MISC] = i < more ? glued : misc;
      return { kind: "word", columns, end: line.end };
    });
    if (asToken) {
      const columns = whole.map((value, c) => (c === ID ? `${m}-${m + more}` : c === FORM || c === MISC ? value : "_"));
      made.unshift({ kind: "range", columns, end: line.end });
    }
    this.lines.splice(this.lines.indexOf(line), 1, ...made);
    this.words = this.lines.filter((one) => one.kind === "word");
  }

  isInside(m) {
    return this.lines.some((line) => {
      const [first, last] = line.columns[ID].split("-").map(Number);
      return line.kind === "range" && first <= m && m <= last;
    });
  }

  // Words m and m + 1 as one, with the head of the one that is not under the other.
  mergeWords(m) {
    const first = this.words[m - 1], second = this.words[m];
    const upper = this.head(m) === m + 1 ? second : first;
    const [head, label] = [upper.columns[HEAD], upper.columns[DEPREL]];
    const columns = [...first.columns];
    columns[FORM] = first.columns[FORM] + second.columns[FORM];
    columns[HEAD] = head;
    columns[DEPREL] = label;
    for (const c of [LEMMA, UPOS, XPOS, FEATS]) columns[c] = "_";
    if (MISC < columns.length) {
      columns[MISC] = second.columns[MISC] ?? "_";
      columns[DEPS] = "_";
    }
    first.columns = columns;
    for (const line of [...this.lines]) {
      if (line.kind !== "range") continue;
      const [from, to] = line.columns[ID].split("-").map(Number);
      if (from === m && to === m + 1) {  // the token is now one word
        columns[FORM] = line.columns[FORM];
        columns[MISC] = line.columns[MISC];
        this.lines.splice(this.lines.indexOf(line), 1);
      }
    }
    this.lines.splice(this.lines.indexOf(second), 1);
    this.words = this.lines.filter((one) => one.kind === "word");
    this.renumber((id) => (id > m ? id - 1 : id));
    if (Number(first.columns[HEAD]) === m) first.columns[HEAD] = "_";
  }

  // Two sentences: the words before m, and those from m on. Arcs between them become unknown.
  splitAt(m) {
    const id = this.comment("sent_id");
    const place = this.lines.indexOf(this.lines.find((line) =>
      line.kind !== "comment" && line.kind !== "other" && parseInt(line.columns[ID], 10) >= m));
    const comments = this.lines.filter((line) => line.kind === "comment");
    const end = this.words[0].end || "\n";
    const blank = { kind: "other", columns: [""], end };
    const left = new Sentence("");
    left.lines = [...this.lines.slice(0, place), blank];
    const right = new Sentence("");
    const kept = comments.filter((line) => /^#\s*(sent_id|text)\s*=/.test(line.columns[0]));
    right.lines = [...kept.map((line) => ({ ...line, columns: [...line.columns] })), ...this.lines.slice(place)];
    for (const part of [left, right]) part.words = part.lines.filter((line) => line.kind === "word");
    for (const word of left.words) if (Number(word.columns[HEAD]) >= m) word.columns[HEAD] = word.columns[DEPREL] = "_";
    for (const word of right.words) {
      const head = Number(word.columns[HEAD]);
      if (head > 0 && head < m) word.columns[HEAD] = word.columns[DEPREL] = "_";
    }
    right.renumber((number) => (number === 0 ? 0 : number - m + 1));
    if (id !== null) {
      left.setComment("sent_id", `${id}-1`);
      right.setComment("sent_id", `${id}-2`);
    }
    for (const part of [left, right]) if (part.comment("text") !== null) part.setComment("text", part.surface);
    return [left, right];
  }

  // This sentence and the next as one; its root stays, the other's becomes unknown.
  joined(next) {
    const made = this.copy(), other = next.copy(), before = this.length;
    const isEnd = (line) => line.kind === "other";
    while (made.lines.length && isEnd(made.lines[made.lines.length - 1])) made.lines.pop();
    for (const word of other.words) if (word.columns[HEAD] === "0") word.columns[HEAD] = word.columns[DEPREL] = "_";
    other.renumber((number) => (number === 0 ? 0 : number + before));
    made.lines.push(...other.lines.filter((line) => line.kind !== "comment"));
    made.words = made.lines.filter((line) => line.kind === "word");
    if (made.comment("text") !== null) made.setComment("text", made.surface);
    return made;
  }
}

// What differs between two versions of a sentence, word by word; null if their words differ.
export function differences(before, after) {
  const a = new Sentence(before), b = new Sentence(after);
  if (a.length !== b.length) return null;
  const names = { [FORM]: "form", [LEMMA]: "lemma", [UPOS]: "tag", [XPOS]: "fine tag", [FEATS]: "features", [HEAD]: "head", [DEPREL]: "label", [DEPS]: "enhanced", [MISC]: "misc" };
  const found = [];
  for (let m = 1; m <= a.length; m++) {
    for (const [column, name] of Object.entries(names)) {
      let [was, is] = [a.cell(m, Number(column)), b.cell(m, Number(column))];
      if (was === is) continue;
      if (Number(column) === HEAD) [was, is] = [headName(a, was), headName(b, is)];
      found.push({ m, form: b.form(m), name, was, is });
    }
  }
  return found;
}

function headName(sentence, head) {
  return /^\d+$/.test(head) && Number(head) <= sentence.length ? `${sentence.form(Number(head))} (${head})` : head;
}
