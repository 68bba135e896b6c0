// What can be done with a download in each state, and its state in words: the same in the list, in results and in details.

import { access, call, loadable } from "./api.js";
import { $, ask, attempt, icon, make, say, setText } from "./dom.js";
import * as format from "./format.js";
import { activeStates, store } from "./store.js";

export const isActive = ({ state }) => activeStates.includes(state);

/** The two things most wanted now. */
export function actionsOf(download) {
	if (!download) return ["download"];
	if (isActive(download)) return ["pause", "cancel"];
	if (download.state === "paused") return ["resume", "cancel"];
	if (download.state !== "completed") return ["retry", "remove"];
	if (download.fileMissing) return ["remove"];
	return /^(audio|video)\//.test(download.mediaType) ? ["play", "save"] : ["save"];
}

export const nameOf = ({ track, filename, url }) => track?.name || filename || url.split(/[?#]/)[0].split("/").pop() || url;

export const capitalized = (word) => word[0].toUpperCase() + word.slice(1);

const waits = { host: "waits for its host", disk: "waits for free room", quota: "waits, as the quota is used up" };

/** `3.1 of 8.0 MB · 1.2 MB/s · 4 sec left`, or what else is to be said. */
export function statusOf({ state, bytesReceived, bytesTotal, bytesPerSecond, etaSeconds, stalled, error, fileMissing, waitingFor }) {
	const size = bytesReceived || bytesTotal !== null ? format.part(bytesReceived, bytesTotal) : "";
	const pace = stalled ? ["waiting for data"] : [format.speed(bytesPerSecond), etaSeconds !== null && `${format.span(etaSeconds)} left`];
	const parts = {
		downloading: size ? [size, ...pace] : ["Connecting…"],
		completed: [fileMissing ? "File is gone" : "Completed", format.bytes(bytesReceived)],
		cancelled: ["Cancelled"],
	}[state];
	return (parts ?? [capitalized(state), waits[waitingFor] ?? error?.message, size]).filter(Boolean).join(" · ");
}

/** Makes a button stand for an action on something by name. */
export function setAction(button, action, name) {
	button.hidden = !action;
	if (!action) return;
	const title = capitalized(action);
	button.ariaLabel = `${title} ${name}`;
	if (button.dataset.do === action) return;
	button.dataset.do = action;
	button.title = title;
	button.replaceChildren(icon(action), make("span", {}, title));
}

export function showState({ element, parts }, download, name) {
	const [first, second] = actionsOf(download);
	setAction(parts.first, first, name);
	setAction(parts.second, second, name);
	element.dataset.state = download?.state ?? "none";
	if (!download) return;
	const isUnknown = download.state === "downloading" && download.progress === null;
	parts.bar.classList.toggle("busy", isUnknown);
	parts.bar.firstChild.style.width = isUnknown ? "" : `${100 * download.progress}%`;
	parts.bar.ariaLabel = `Progress of ${name}`;
	parts.bar.ariaValueNow = isUnknown ? null : Math.round(100 * download.progress);
	setText(parts.status, statusOf(download));
}

// --- Doing it

async function command({ id }, verb) {
	store.put(await call("POST", `downloads/${id}/${verb}`));
}

async function remove({ id }, deletesFile) {
	await call("DELETE", `downloads/${id}?deleteFile=${deletesFile}`);
	store.remove(id);
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
	play: (download) => play(nameOf(download), download.mediaType.startsWith("video"), download.links.file, loadable),
	async save({ links, filename }) {
		make("a", { href: await loadable(links.file), download: filename }).click();
	},
};

/** Buttons that change something are hidden where the token is for reading only; keys have no buttons. */
export const perform = (action, download) => attempt(() => (access.mayChange || action === "play" || action === "save") && work[action]?.(download));

/** One command for many: not all at once, browsers would give up. */
export async function performOnMany(downloads, verb, deletesFiles) {
	const act = {
		...work,
		cancel: (download) => command(download, "cancel"),
		clear: (download) => remove(download, deletesFiles),
	}[verb];
	let failures = 0;
	for (let start = 0; start < downloads.length; start += 100) {
		const results = await Promise.allSettled(downloads.slice(start, start + 100).map(act));
		failures += results.filter(({ status }) => status === "rejected").length;
	}
	if (failures) say(`${format.count(failures)} of ${format.count(downloads.length)} could not be changed.`, true);
}

// --- The player

let media;
let playing;

/** Plays a preview or a file; or pauses and goes on, if that is what plays. `open` finds the address to load for its path. */
export async function play(title, isVideo, path, open = (path) => path) {
	if (media && playing === path) return media.paused ? media.play() : media.pause();
	close();
	playing = path;
	const source = await open(path);
	if (playing !== path) return;
	media = make(isVideo ? "video" : "audio", { controls: "", autoplay: "", src: source, "aria-label": title });
	let hasPlayed = false;
	media.onplaying = () => (hasPlayed = true);
	media.onerror = async ({ target }) => {
		if (!hasPlayed) return say(`${title} cannot be played here.`, true);
		// The ticket in the address has become too old.
		hasPlayed = false;
		const { currentTime } = target;
		target.src = await open(path);
		target.currentTime = currentTime;
	};
	setText($("player-title"), title);
	$("player").append(media);
	$("player").hidden = false;
}

function close() {
	media?.pause();
	media?.remove();
	media = playing = null;
	$("player").hidden = true;
}

$("player-close").onclick = close;
