// All about one download, and what of it can be changed.

import { actionsOf, nameOf, perform, setAction, statusOf } from "./actions.js";
import { call, send } from "./api.js";
import { $, make, setText, webAddress, wireDialog } from "./dom.js";
import * as format from "./format.js";
import { store } from "./store.js";

let shown;
let before;
/** The head of the finished file, as the service sends it. */
let head;
const { dialog, fields, open } = wireDialog("details", save);

export function startDetails() {
  store.addEventListener("change", ({ detail }) => {
    if (!dialog.open || !detail.changed.has(shown.id)) return;
    if (store.all.has(shown.id)) render(store.all.get(shown.id));
    else dialog.close();
  });
  $("details-actions").addEventListener("click", ({ target }) => perform(target.closest("button")?.dataset.do, shown));
}

export async function showDetails(download) {
  fields.labels.value = download.labels.join(", ");
  fields.priority.value = download.priority;
  fields.speedLimit.value = download.speedLimit / 1e6 || "";
  before = orderIn(fields);
  head = null;
  render(download);
  open();
  if (download.state !== "completed") return;
  const response = await send(download.links.file, { method: "HEAD" });
  if (shown.id !== download.id || !response.ok) return;
  head = response.headers;
  render(shown);
}

function render(download) {
  shown = download;
  const { url, error, bytesReceived, bytesTotal } = download;
  const name = nameOf(download);
  setText($("details-title").firstChild, name);
  setText($("details-state"), statusOf({ ...download, error: null }));
  setText($("details-error"), error ? `${error.message} (${error.code})` : "");
  setText($("details-link"), url);
  $("details-link").href = webAddress(url);
  drawSegments(download);
  $("segments").ariaLabel = `${format.part(bytesReceived, bytesTotal)} received`;
  const actions = [...new Set([...actionsOf(download), ...(download.state === "completed" ? ["remove"] : [])])];
  [...$("details-actions").children].forEach((button, index) => setAction(button, actions[index], name));
  const facts = factsOf(download).filter(([, value]) => value);
  // Only what differs is made anew: what is selected to be copied stays so.
  if ($("facts").children.length !== 2 * facts.length) $("facts").replaceChildren(...facts.flatMap(() => [make("dt"), make("dd", { dir: "auto" })]));
  facts.flat().forEach((text, index) => setText($("facts").children[index], String(text)));
}

/** A bar that fills where the bytes are: one part for each connection, where the service tells of them. */
function drawSegments({ state, bytesReceived, bytesTotal, segmentRanges }) {
  const ranges = segmentRanges ?? [{ start: 0, end: bytesTotal ?? 0, received: bytesReceived }];
  const share = (count) => `${bytesTotal ? (100 * count) / bytesTotal : 0}%`;
  $("segments").dataset.state = state;
  $("segments").replaceChildren(
    ...ranges.map(({ start, received }) => {
      const part = make("i");
      part.style.insetInlineStart = share(start);
      part.style.inlineSize = share(received);
      return part;
    }));
}

function factsOf(download) {
  const { track, bytesReceived, bytesTotal, mediaType, resumable, segments, attempts, checksum, sha256 } = download;
  const times = [["Added", "createdAt"], ["Started", "startedAt"], ["Completed", "completedAt"]];
  const headers = ["Content-Type", "ETag", "Last-Modified", "Content-Disposition"];
  return [
    ["Track", [track?.artist, track?.collection].filter(Boolean).join(" · ")],
    ["Received", `${format.count(bytesReceived)}${bytesTotal === null ? "" : " of " + format.count(bytesTotal)} bytes`],
    ["Media type", mediaType],
    ["Can resume", { true: "yes", false: "no" }[resumable]],
    ["Connections", segments],
    ["Attempts", attempts],
    ["Expected", checksum],
    ["SHA-256", sha256],
    ...times.map(([name, key]) => [name, download[key] && format.moment(download[key])]),
    ...headers.map((name) => [name, head?.get(name)]),
  ];
}

/** What the fields that this dialog and that for adding share say, as members of a request. */
export function orderIn({ labels, priority, speedLimit }) {
  return {
    labels: labels.value.split(",").map((label) => label.trim()).filter(Boolean),
    priority: Number(priority.value),
    speedLimit: Math.round(speedLimit.value * 1e6),
  };
}

async function save() {
  const changes = Object.entries(orderIn(fields)).filter(([name, value]) => String(value) !== String(before[name]));
  if (changes.length) store.put(await call("PATCH", shown.links.self, Object.fromEntries(changes)));
}
