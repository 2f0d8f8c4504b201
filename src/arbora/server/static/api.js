// Calls of the server. A token comes in the address, after #, and is kept for this tab only.

const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem("arbora:token", given);
  history.replaceState(null, "", location.pathname);
}

export class Refusal extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export async function call(path, body) {
  const token = sessionStorage.getItem("arbora:token");
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const options = { headers };
  if (body !== undefined) {
    options.method = "POST";
    options.body = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refusal("The server does not answer. Your work is kept in this browser.", 0);
  }
  if (!answer.ok) {
    const text = await answer.text();
    let message = text;
    try {
      message = JSON.parse(text).error;
    } catch {
      // it is plain text
    }
    throw new Refusal(message || `The server answered with status ${answer.status}.`, answer.status);
  }
  const isJson = (answer.headers.get("content-type") || "").startsWith("application/json");
  return isJson ? answer.json() : answer.text();
}
