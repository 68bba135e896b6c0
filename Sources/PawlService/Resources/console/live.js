// The connection to the service by pawl.js, and the downloads that it keeps current.

import { Pawl } from "../client/pawl.js";
import { inWords } from "./format.js";

export const activeStates = ["downloading", "queued", "retrying"];
export const states = [...activeStates, "paused", "failed", "completed", "cancelled"];

// The most downloads that pawl.js keeps.
const listLimit = 20_000;

let token = sessionStorage.pawlToken;
let pawl;
let stop;
let asking;

export const access = {
	// Set by the page. Asks for a token, with `true` if the last was wrong.
	prompt: null,
	// Shows the connection's state.
	show: null,
	// Whether the scope of the token is `full`.
	mayChange: true,
};

// Works with the client; asks for a token while it is refused.
async function authorised(work) {
	for (;;) {
		const used = pawl;
		try {
			return await work(used);
		} catch (error) {
			if (error.status === 401) await renew(used);
			else if (error.code === "no-connection") throw new Error("The service is unreachable.");
			else throw error.status === undefined ? error : Object.assign(error, { message: inWords(error.message) });
		}
	}
}

export const call = (method, path, body) => authorised((pawl) => pawl.request(method, path, { body }));
export const send = (path, options) => authorised((pawl) => pawl.fetch(path, options));
export const search = (term, query) => authorised((pawl) => pawl.search(term, query));
export const fileURL = (id) => authorised((pawl) => pawl.fileURL(id));
// Plays a file until the returned function is called.
export const attach = (media, id) => pawl.attach(media, id);
export const reconnect = () => pawl.reconnect();

async function renew(used) {
	if (used !== pawl) return;
	asking ??= access.prompt(Boolean(token)).finally(() => (asking = null));
	const given = await asking;
	if (used !== pawl) return;
	sessionStorage.pawlToken = token = given;
	connect();
}

function connect() {
	stop?.();
	const own = (pawl = new Pawl("./", { token, onEvent: (name, data) => own === pawl && store.take(name, data), onStatus: (status) => own === pawl && note(status) }));
	stop = pawl.watch((list) => own === pawl && store.show(list));
}

async function note({ state, error, retryIn }) {
	if (state === "stopped") return error.status === 401 ? renew(pawl) : access.show?.("offline", 0);
	if (state !== "online") return access.show?.(state, retryIn);
	try {
		const { scope, version } = await call("GET", "stats");
		access.mayChange = scope === "full";
		access.version = version;
		access.show?.("online");
	} catch {} // The stream fails as well.
}

// --- The downloads

class LiveDownloads extends EventTarget {
	all = new Map();
	// The number of all downloads, if not all are here.
	total = 0;
	isLoading = true;
	// Called for each change of a state; set by the page.
	onTransition;
	#shown = new Set();
	#newest = new Map();
	#changed = new Set();
	#hasMoved = false;

	// The newest download of a search result.
	of({ id, downloadUrl, download }) {
		return this.all.get(this.#newest.get(id) ?? this.#newest.get(downloadUrl) ?? download?.id);
	}

	async take(name, data) {
		if (name.startsWith("subscription")) return this.dispatchEvent(new CustomEvent(name, { detail: data }));
		if (name !== "missed") return;
		// The stream is another tab's, which had the first event.
		const all = [];
		let cursor = "";
		try {
			do {
				const page = await call("GET", `subscriptions?limit=200${cursor && "&cursor=" + cursor}`);
				all.push(...page.items);
				cursor = page.nextCursor;
			} while (cursor);
			this.dispatchEvent(new CustomEvent("subscriptions", { detail: all }));
		} catch {}
	}

	// Takes a list, in which unchanged downloads are the same objects.
	show(list) {
		const listed = new Set(list);
		const ids = new Set(list.map(({ id }) => id));
		for (const download of listed) if (!this.#shown.has(download)) this.put(download);
		for (const id of this.all.keys()) if (!ids.has(id)) this.#remove(id);
		this.#shown = listed;
		if (this.isLoading) this.#note(null, true);
		this.isLoading = false;
		if (list.length >= listLimit) this.#count();
	}

	put(download) {
		const { id, state, track } = download;
		// Members of a track may have any type.
		const odd = Object.keys(track ?? {}).filter((name) => track[name] instanceof Object);
		const plain = odd.length ? { ...download, track: { ...track, ...Object.fromEntries(odd.map((name) => [name, null])) } } : download;
		const before = this.all.get(id);
		this.all.set(id, plain);
		if (before && before.state !== state) this.onTransition(plain);
		for (const key of keysOf(plain)) if (!(this.#newest.get(key) > id)) this.#newest.set(key, id);
		this.#note(id, !before || orderOf(before) !== orderOf(plain));
	}

	#remove(id) {
		const download = this.all.get(id);
		this.all.delete(id);
		for (const key of keysOf(download)) if (this.#newest.get(key) === id) this.#newest.delete(key);
		this.#note(id, true);
	}

	// Counts all, at most once a minute.
	async #count() {
		if (Date.now() < this.#countedAt + 60_000) return;
		this.#countedAt = Date.now();
		const { downloads } = await call("GET", "stats").catch(() => ({ downloads: {} }));
		this.total = Object.values(downloads).reduce((total, number) => total + number, 0);
		this.#note(null, true);
	}
	#countedAt = 0;

	// Notifies the views at most once per frame.
	#note(id, hasMoved) {
		this.#hasMoved ||= hasMoved;
		this.#changed.add(id);
		if (this.#changed.size > 1) return;
		requestAnimationFrame(() => {
			const detail = { changed: this.#changed, hasMoved: this.#hasMoved };
			this.#changed = new Set();
			this.#hasMoved = false;
			this.dispatchEvent(new CustomEvent("change", { detail }));
		});
	}
}

// The keys by which results find a download.
const keysOf = ({ url, track }) => [url, track?.id].filter(Boolean);

// The members that decide a download's position in the list.
const orderOf = ({ state, folder, filename, priority, labels }) => String([state, folder, filename, priority, labels]);

export const store = new LiveDownloads();

connect();
