// Adding by address: typed, pasted or dropped, one or a list of them.

import { call } from "./api.js";
import { orderIn } from "./details.js";
import { $, make, say, wireDialog } from "./dom.js";
import * as format from "./format.js";
import { store } from "./store.js";

/** How many go in one request: a quarter of what the service takes, so that long ones stay below its 1 MiB. */
const batchSize = 250;

const { fields, complaint, open } = wireDialog("add", submit);

export function startAdding() {
  $("open-add").addEventListener("click", () => show([]));
  addEventListener("paste", ({ target, clipboardData }) => {
    if (target.closest?.("input, textarea, dialog")) return;
    const links = linksIn(clipboardData.getData("text"));
    if (links.length) show(links);
  });
  for (const name of ["dragover", "dragleave", "drop"]) {
    addEventListener(name, (event) => {
      if (document.querySelector("dialog[open]")) return;
      event.preventDefault();
      $("drop").hidden = name !== "dragover";
      if (name === "drop") take(event.dataTransfer);
    });
  }
}

async function take(transfer) {
  const texts = [transfer.getData("text/uri-list") || transfer.getData("text")];
  for (const file of [...transfer.files]) if (file.size < 1e6) texts.push(await file.text());
  const links = linksIn(texts.join("\n"));
  if (links.length) show(links);
  else say("There is no link in that.", true);
}

const linksIn = (text) => [...new Set(text.match(/\bhttps?:\/\/[^\s<>"']+/gi))];

function show(links) {
  if (links.length) fields.links.value = links.join("\n");
  open();
  fields.links.focus();
}

async function submit() {
  const links = fields.links.value.split(/\s+/).filter(Boolean);
  const order = { ...orderIn(fields), paused: fields.paused.checked };
  if (fields.checksum.value) order.checksum = "sha-256:" + fields.checksum.value.trim();
  const lines = fields.headers.value.split("\n").filter((line) => line.trim());
  order.headers = Object.fromEntries(lines.map((line) => line.split(/:(.*)/s, 2).map((part) => part.trim())));
  const refused = [];
  for (let start = 0; start < links.length; start += batchSize) {
    const batch = links.slice(start, start + batchSize);
    const { items } = await call("POST", "/downloads/batch", { downloads: batch.map((url) => ({ ...order, url })) });
    items.forEach(({ download, problem }, index) => {
      if (download) store.put(download);
      else refused.push([batch[index], problem.detail]);
    });
  }
  const added = links.length - refused.length;
  if (added) say(`${format.count(added)} ${added === 1 ? "download" : "downloads"} added.`);
  fields.links.value = refused.map(([link]) => link).join("\n");
  complaint.append(...refused.slice(0, 20).flatMap(([link, reason]) => [make("bdi", {}, link), `: ${reason}`, make("br")]));
  return refused.length === 0;
}
