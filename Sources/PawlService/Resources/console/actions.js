// What can be done with a download in each state, and its state in words: the same in the list, in results and in details.

import { access, call, send } from "./api.js";
import { ask, attempt, icon, make, say, setText } from "./dom.js";
import * as format from "./format.js";
import { play } from "./player.js";
import { activeStates, store } from "./store.js";

export const isActive = ({ state }) => activeStates.includes(state);

/** The two things most wanted now; one to download what is not a download yet. */
export function actionsOf(download) {
  if (!download) return ["download"];
  if (isActive(download)) return ["pause", "cancel"];
  if (download.state === "paused") return ["resume", "cancel"];
  if (download.state !== "completed") return ["retry", "remove"];
  if (download.fileMissing) return ["remove"];
  return /^(audio|video)\//.test(download.mediaType) ? ["play", "save"] : ["save"];
}

export function nameOf({ track, filename, url }) {
  return track?.name || filename || url.split(/[?#]/)[0].split("/").pop() || url;
}

export const capitalized = (word) => word[0].toUpperCase() + word.slice(1);

/** `3.1 of 8.0 MB · 1.2 MB/s · 4 sec left`, or what else is to be said. */
export function statusOf({ state, bytesReceived, bytesTotal, bytesPerSecond, etaSeconds, stalled, error, fileMissing }) {
  const size = bytesReceived || bytesTotal !== null ? format.part(bytesReceived, bytesTotal) : "";
  const pace = stalled ? ["waiting for data"] : [format.speed(bytesPerSecond), etaSeconds !== null && `${format.span(etaSeconds)} left`];
  const parts = {
    downloading: size ? [size, ...pace] : ["Connecting…"],
    completed: [format.bytes(bytesReceived), fileMissing ? "file is gone" : "Completed"],
    cancelled: ["Cancelled"],
  }[state];
  return (parts ?? [capitalized(state), error?.message, size]).filter(Boolean).join(" · ");
}

const symbols = { resume: "play", preview: "play", remove: "cancel" };

/** Makes a button stand for an action on something by name; hides it if there is none. */
export function setAction(button, action, name) {
  button.hidden = !action;
  if (!action) return;
  button.ariaLabel = `${capitalized(action)} ${name}`;
  if (button.dataset.do === action) return;
  button.dataset.do = action;
  button.title = capitalized(action);
  button.replaceChildren(icon(symbols[action] ?? action), make("span", {}, button.title));
}

/** Shows a download's progress, status and actions in the parts of a row. */
export function showState(parts, download, name) {
  const [first, second] = actionsOf(download);
  setAction(parts.first, first, name);
  setAction(parts.second, second, name);
  if (!download) return;
  const isUnknown = download.state === "downloading" && download.progress === null;
  parts.bar.dataset.state = isUnknown ? "busy" : download.state;
  parts.bar.firstChild.style.inlineSize = isUnknown ? "" : `${100 * download.progress}%`;
  setText(parts.status, statusOf(download));
  parts.status.title = download.error?.message ?? "";
}

async function command({ id }, verb) {
  store.put(await call("POST", `/downloads/${id}/${verb}`));
}

async function remove({ id }, deletesFile) {
  await call("DELETE", `/downloads/${id}?deleteFile=${deletesFile}`);
  store.remove(id);
}

/** An address of the file that elements can load: with a token, which they cannot send, of the bytes themselves. */
async function loadableAddress({ links }) {
  if (!access.hasToken()) return links.file;
  const response = await send(links.file);
  return URL.createObjectURL(await response.blob());
}

const work = {
  pause: (download) => command(download, "pause"),
  resume: (download) => command(download, "resume"),
  // Bytes that may be valid are kept; those that turned out to be wrong are not.
  retry: (download) => command(download, download.state === "failed" && download.error?.code !== "checksum-mismatch" ? "resume" : "retry"),
  async cancel(download) {
    const loss = `What has arrived of ${nameOf(download)} (${format.bytes(download.bytesReceived)}) is deleted.`;
    if (download.bytesReceived < 1e7 || (await ask("Cancel this download?", loss, "Cancel it"))) await command(download, "cancel");
  },
  async remove(download) {
    const isDone = download.state === "completed";
    const choice = !isDone || (await ask("Remove this download?", `${nameOf(download)} is taken off the list.`, "Remove", true));
    if (choice) await remove(download, choice.deletesFiles ?? false);
  },
  async play(download) {
    play(await loadableAddress(download), nameOf(download), download.mediaType.startsWith("video"));
  },
  async save(download) {
    const href = await loadableAddress(download);
    make("a", { href, download: download.filename }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  },
};

/** Does it, and says what goes wrong. */
export const perform = (action, download) => attempt(() => work[action]?.(download));

/** One command for many, a few requests at a time: browsers open six connections, and the events have one. */
export async function performOnMany(downloads, verb, deletesFiles) {
  const queue = [...downloads].reverse();
  let failures = 0;
  const worker = async () => {
    for (let download = queue.pop(); download; download = queue.pop()) {
      await (verb === "clear" ? remove(download, deletesFiles) : command(download, verb)).catch(() => (failures += 1));
    }
  };
  await Promise.all(Array.from({ length: 5 }, worker));
  if (failures) say(`${format.count(failures)} of ${format.count(downloads.length)} could not be changed.`, true);
}
