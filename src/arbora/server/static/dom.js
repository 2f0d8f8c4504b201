// Elements of the page. Text is always set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.setAttribute("class", value);
    else if (name in { value: 1, checked: 1, disabled: 1, hidden: 1, tabIndex: 1 }) node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

export const byId = (id) => document.getElementById(id);

export function percent(p) {
  if (p === null || p === undefined) return "";
  if (p >= 0.995) return p === 1 ? "100 %" : "> 99 %";
  return p < 0.01 ? "< 1 %" : `${Math.round(p * 100)} %`;
}

export function download(name, content, type) {
  const link = el("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

let timer = 0;

// A short message for eyes and screen readers; errors stay until the next message.
export function say(message, isError = false) {
  const box = byId("message");
  clearTimeout(timer);
  box.textContent = message;
  box.className = isError ? "message error" : "message";
  box.hidden = !message;
  if (message && !isError) timer = setTimeout(() => (box.hidden = true), 4000);
}
