// The button that trains the parser on the accepted sentences, and what the training brings.

import { call } from "./api.js";
import { byId, el, say } from "./dom.js";

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const figure = (value) => value.toFixed(2);

function told(status) {
  if (status.state === "failed") return `The training failed: ${status.message}`;
  const { before, after } = status;
  const scores = `dev UAS ${figure(before.uas)} → ${figure(after.uas)}, LAS ${figure(before.las)} → ${figure(after.las)}`;
  return status.kept
    ? `${scores}. The new model is used, and saved as ${status.model}.`
    : `${scores}. The model before stays in use; the new one is saved as ${status.model}.`;
}

async function train(app, button) {
  button.disabled = true;
  try {
    await app.work.sending; // what was accepted is there
    let status = await call("/api/retrain", {});
    while (status.state === "running") {
      button.textContent = `Training, pass ${status.passes + 1}`;
      await wait(700);
      status = await call("/api/retrain");
    }
    say(told(status), true);
    if (status.kept) await app.refresh();
  } catch (error) {
    say(error.message, true);
  }
  button.textContent = "Train";
  button.disabled = false;
}

export function addTraining(app) {
  const button = el("button", { type: "button", id: "retrain", title: "Train the parser on the accepted sentences" }, "Train");
  button.addEventListener("click", () => train(app, button));
  byId("help").before(button);
}
