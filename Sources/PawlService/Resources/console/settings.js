// The service's limits, which hold at once and are kept; and its token.

import { access, call } from "./api.js";
import { $, attempt, say, setText, wireDialog } from "./dom.js";
import * as format from "./format.js";

const names = ["maxConcurrent", "maxPerHost", "segments"];

const { fields, open } = wireDialog("settings", async () => {
  const change = Object.fromEntries(names.map((name) => [name, Number(fields[name].value)]));
  await call("PATCH", "/settings", { ...change, speedLimit: Math.round(fields.speedLimit.value * 1e6) });
  say("Settings saved.");
});

async function show() {
  const [settings, { version, uptimeSeconds, freeBytes }] = await Promise.all(["/settings", "/stats"].map((path) => call("GET", path)));
  for (const name of names) fields[name].value = settings[name];
  fields.speedLimit.value = settings.speedLimit / 1e6 || "";
  setText($("about"), `Pawl ${version}, up for ${format.span(uptimeSeconds)}. ${format.bytes(freeBytes ?? 0)} free on its disk.`);
  $("forget").hidden = !access.hasToken();
  open();
}

$("open-settings").addEventListener("click", () => attempt(show));
$("forget").addEventListener("click", () => {
  access.forget();
  location.reload();
});

let give;
const token = wireDialog("token", () => give(token.fields.token.value.trim()));
// There is nothing to see without it.
token.dialog.addEventListener("cancel", (event) => event.preventDefault());

access.prompt = (isWrong) => {
  token.open();
  token.form.reset();
  if (isWrong) setText(token.complaint, "That is not the token.");
  return new Promise((resolve) => (give = resolve));
};
