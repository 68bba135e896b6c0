// The actions for a download in each state, and its state in words.

import { $, ask, attempt, icon, make, say, setText } from "./dom.js";
import { count, counted, inWords, joined, part, sizeOf, span, speed, sum } from "./format.js";
import { access, activeStates, attach, call, fileURL } from "./live.js";

export const isActive = ({ state }) => activeStates.includes(state);

// The two main actions.
export function actionsOf(download) {
	if (!download) return ["download"];
	if (isActive(download)) return ["pause", "cancel"];
	if (download.state === "paused") return ["resume", "cancel"];
	if ((download.parts ?? [download]).some((part) => isEligible("retry", part))) return ["retry", "remove"];
	if (download.fileMissing || download.parts) return ["remove"];
	return kindOf(download) ? ["play", "save"] : ["save"];
}

const extensions = { audio: /\.(aac|flac|m4[ab]|mp3|og[ag]|opus|wav)$/i, video: /\.(m4v|mkv|mov|mp4|ogv|webm)$/i };

// `audio` or `video`: by the media type, or by the name if the type says nothing.
function kindOf({ mediaType, filename }) {
	if (mediaType && !/^(application|binary)\/octet-stream/.test(mediaType)) return /^(audio|video)\//.exec(mediaType)?.[1];
	return Object.keys(extensions).find((kind) => extensions[kind].test(filename));
}

export const nameOf = ({ track, filename, url }) => track?.name || filename || url.split(/[?#]/)[0].split("/").pop() || url;

export const capitalized = (word) => word[0].toUpperCase() + word.slice(1);

// `3.1 of 8.0 MB · 1.2 MB/s · 4 sec left`, or another status.
export function statusOf({ state, bytesReceived, bytesTotal, bytesPerSecond, etaSeconds, stalled, error, fileMissing, waitingFor }) {
	const size = bytesReceived ? part(bytesReceived, bytesTotal) : bytesTotal && sizeOf(bytesTotal);
	const pace = stalled ? ["waiting for data"] : [bytesPerSecond && speed(bytesPerSecond), etaSeconds !== null && `${span(etaSeconds)} left`];
	const wait = waitingFor && waitingFor !== "turn" && `waits for ${waitingFor}`;
	const texts = {
		downloading: wait ? [size, wait] : bytesReceived ? [size, ...pace] : ["Connecting…"],
		completed: [fileMissing ? "File is missing" : "Completed", sizeOf(bytesReceived)],
		cancelled: ["Cancelled"],
	}[state];
	return joined(...(texts ?? [capitalized(state), wait || (error && inWords(error.message)), size]));
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

const command = (verb) => ({ id }) => call("POST", `downloads/${id}/${verb}`);

const commands = {
	pause: command("pause"),
	resume: command("resume"),
	cancel: command("cancel"),
	// Keeps bytes that may be valid.
	retry: (download) => command(download.state === "failed" && download.error?.code !== "checksum-mismatch" ? "resume" : "retry")(download),
	remove: ({ id }, deletesFile = false) => call("DELETE", `downloads/${id}?deleteFile=${deletesFile}`),
	"move to top": ({ links }) => call("PATCH", links.self, { position: 0 }),
	play: (download) => play(nameOf(download), kindOf(download) === "video", download),
	async save({ id, filename }) {
		make("a", { href: await fileURL(id), download: filename }).click();
	},
};

// The states to which bulk commands apply.
const eligible = {
	pause: activeStates,
	resume: ["paused"],
	retry: ["failed", "cancelled"],
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
let detach;

// Plays the file of a download, or a `src`; pauses and resumes the present one.
export function play(title, isVideo, { id, src }) {
	if (playing === (id ?? src)) return media.paused ? media.play() : media.pause();
	close();
	playing = id ?? src;
	media = make(isVideo ? "video" : "audio", { controls: "", autoplay: "", "aria-label": title });
	media.onplaying = ({ target }) => (target.autoplay = false);
	media.onerror = ({ target }) => {
		// A file that has played goes on without this.
		if (!target.autoplay && id) return;
		say(`${title} cannot be played here.`, true);
		if (target === media) close();
	};
	if (id) detach = attach(media, id);
	else media.src = src;
	setText($("player-title"), title);
	$("player").append(media);
	$("player").hidden = false;
}

function close() {
	detach?.();
	media?.pause();
	media?.remove();
	media = playing = detach = null;
	$("player").hidden = true;
}

$("player-close").onclick = close;
