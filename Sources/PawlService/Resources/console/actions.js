// The actions for a download in each state, and its state in words.

import { access, call, loadable } from "./api.js";
import { $, ask, attempt, icon, make, say, setText } from "./dom.js";
import { count, counted, joined, part, sizeOf, span, speed, sum } from "./format.js";
import { activeStates, store } from "./store.js";

export const isActive = ({ state }) => activeStates.includes(state);

// The two main actions.
export function actionsOf(download) {
	if (!download) return ["download"];
	if (isActive(download)) return ["pause", "cancel"];
	if (download.state === "paused") return ["resume", "cancel"];
	if (download.fileMissing || (download.parts && download.state !== "failed")) return ["remove"];
	if (download.state !== "completed") return ["retry", "remove"];
	return /^(audio|video)\//.test(download.mediaType) ? ["play", "save"] : ["save"];
}

export const nameOf = ({ track, filename, url }) => track?.name || filename || url.split(/[?#]/)[0].split("/").pop() || url;

export const capitalized = (word) => word[0].toUpperCase() + word.slice(1);

// `3.1 of 8.0 MB · 1.2 MB/s · 4 sec left`, or another status.
export function statusOf({ state, bytesReceived, bytesTotal, bytesPerSecond, etaSeconds, stalled, error, fileMissing, waitingFor }) {
	const size = bytesReceived ? part(bytesReceived, bytesTotal) : bytesTotal && sizeOf(bytesTotal);
	const pace = stalled ? ["waiting for data"] : [speed(bytesPerSecond), etaSeconds !== null && `${span(etaSeconds)} left`];
	const wait = waitingFor && waitingFor !== "turn" && `waits for ${waitingFor}`;
	const texts = {
		downloading: wait ? [size, wait] : bytesReceived ? [size, ...pace] : ["Connecting…"],
		completed: [fileMissing ? "File is missing" : "Completed", sizeOf(bytesReceived)],
		cancelled: ["Cancelled"],
	}[state];
	return joined(...(texts ?? [capitalized(state), wait || error?.message, size]));
}

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

export function showState({ element, nodes }, download, name) {
	const [first, second] = actionsOf(download);
	setAction(nodes.first, first, name);
	setAction(nodes.second, second, name);
	element.dataset.state = download?.state ?? "none";
	if (!download) return;
	const isUnknown = download.state === "downloading" && download.progress === null;
	const { bar, status } = nodes;
	bar.classList.toggle("busy", isUnknown);
	bar.firstChild.style.width = isUnknown ? "" : `${100 * download.progress}%`;
	bar.ariaLabel = `Progress of ${name}`;
	bar.ariaValueNow = isUnknown ? null : Math.round(100 * download.progress);
	setText(status, statusOf(download));
}

// --- Commands

const command = (verb) => async ({ id }) => store.put(await call("POST", `downloads/${id}/${verb}`));

const commands = {
	pause: command("pause"),
	resume: command("resume"),
	cancel: command("cancel"),
	// Keeps bytes that may be valid.
	retry: (download) => command(download.state === "failed" && download.error?.code !== "checksum-mismatch" ? "resume" : "retry")(download),
	async remove({ id }, deletesFile = false) {
		await call("DELETE", `downloads/${id}?deleteFile=${deletesFile}`);
		store.remove(id);
	},
	"move to top": async ({ links }) => store.put(await call("PATCH", links.self, { position: 0 })),
	play: (download) => play(nameOf(download), download.mediaType.startsWith("video"), download.links.file, loadable),
	async save({ links, filename }) {
		make("a", { href: await loadable(links.file), download: filename }).click();
	},
};

// The states to which bulk commands apply.
const eligible = {
	pause: activeStates,
	resume: ["paused"],
	retry: ["failed"],
	cancel: [...activeStates, "paused"],
	remove: ["failed", "completed", "cancelled"],
};

export const isEligible = (verb, download) => eligible[verb]?.includes(download?.state);

// Acts on one or many downloads; with a query, on all matches, loaded or not.
export const perform = (verb, downloads, query) =>
	attempt(async () => {
		// A token of scope read hides the buttons, but keys still work.
		if (!downloads[0] || !(access.mayChange || verb === "play" || verb === "save")) return;
		const [first, more] = downloads;
		const what = more ? counted(downloads.length, "download") : nameOf(first);
		const received = sum(downloads, "bytesReceived");
		let choice;
		if (verb === "cancel" && (more || received > 1e7)) choice = await ask(`Cancel ${what}?`, `The received bytes (${sizeOf(received)}) are deleted.`, "Discard");
		if (verb === "remove" && (more || first.state === "completed")) choice = await ask(`Remove ${what}?`, "Finished files stay.", "Remove", "Delete finished files too");
		if (choice === null) return;
		if (query && more && ["pause", "resume", "cancel"].includes(verb)) {
			const { changed } = await call("POST", `downloads/${verb}?${new URLSearchParams(query)}`);
			return say(`${count(changed)} changed.`);
		}
		const failures = [];
		// In groups, since browsers limit pending requests.
		for (let start = 0; start < downloads.length; start += 100) {
			const results = await Promise.allSettled(downloads.slice(start, start + 100).map((each) => commands[verb]?.(each, choice?.deletesFiles)));
			failures.push(...results.filter(({ status }) => status === "rejected"));
		}
		if (failures[0]) throw more ? new Error(`${count(failures.length)} of ${what} could not be changed.`) : failures[0].reason;
	});

// --- The player

let media;
let playing;

// Plays a path, or pauses and resumes it. `open` returns the URL to load.
export async function play(title, isVideo, path, open = (path) => path) {
	if (playing === path) return media?.paused ? media.play() : media?.pause();
	close();
	playing = path;
	const source = await open(path);
	if (playing !== path) return;
	media = make(isVideo ? "video" : "audio", { controls: "", autoplay: "", src: source, "aria-label": title });
	let hasPlayed = false;
	media.onplaying = () => (hasPlayed = true);
	media.onerror = async ({ target }) => {
		if (!hasPlayed) return say(`${title} cannot be played here.`, true);
		// The ticket has expired.
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
