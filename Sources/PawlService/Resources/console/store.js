// The known downloads: events keep them current, pages of the list bring those that had ended.

import { call, follow } from "./api.js";

// A hundred thousand would take a gigabyte.
const mostLoaded = 20_000;

export const activeStates = ["downloading", "queued", "retrying"];
export const states = [...activeStates, "paused", "failed", "completed", "cancelled"];

class RecordStore extends EventTarget {
	all = new Map();
	// How many the service has.
	total = 0;
	isLoading = true;
	// Hears of each change of a state; set by the page.
	onTransition;
	#newest = new Map();
	#changed = new Set();
	#hasMoved = false;
	// Downloads that events told of while the list is read.
	#told = new Set();

	start(onState) {
		this.reconnect = follow((name, data) => this.#take(name, data), onState);
	}

	// The newest of a search result.
	of({ id, downloadUrl, download }) {
		return this.all.get(this.#newest.get(id) ?? this.#newest.get(downloadUrl) ?? download?.id);
	}

	#take(name, data) {
		if (name === "snapshot") {
			for (const download of data) this.put(download);
			this.#load(new Set(data.map(({ id }) => id)));
		} else {
			this.#told.add(data.id);
			if (name === "removed") this.remove(data.id);
			else this.put(data);
		}
	}

	put(download) {
		const { id, state, updatedAt, track } = download;
		// Old records may hold anything.
		for (const name in track) if (track[name] instanceof Object) delete track[name];
		const before = this.all.get(id);
		if (before?.updatedAt > updatedAt) return;
		this.all.set(id, download);
		if (before && before.state !== state) this.onTransition(download);
		for (const key of keysOf(download)) if (!(this.#newest.get(key) > id)) this.#newest.set(key, id);
		this.#note(id, !before || placeOf(before) !== placeOf(download));
	}

	remove(id) {
		const download = this.all.get(id);
		if (!download) return;
		this.all.delete(id);
		for (const key of keysOf(download)) if (this.#newest.get(key) === id) this.#newest.delete(key);
		this.#note(id, true);
	}

	// Reads the list anew, and drops what it no longer has.
	async #load(told) {
		this.#told = told;
		this.isLoading = true;
		const seen = new Set();
		let cursor = "";
		try {
			do {
				const page = await call("GET", `downloads?limit=200${cursor && "&cursor=" + cursor}`);
				// A newer snapshot has begun a reading of its own.
				if (this.#told !== told) return;
				for (const download of page.items) {
					seen.add(download.id);
					if (!told.has(download.id)) this.put(download);
				}
				cursor = page.nextCursor;
				this.total = page.total;
			} while (cursor && seen.size < mostLoaded);
			for (const id of this.all.keys()) if (!seen.has(id) && !told.has(id) && !(id < cursor)) this.remove(id);
		} catch {
			// The stream has broken as well, and the next one begins with a snapshot.
		}
		this.isLoading = false;
		this.#note(null, true);
	}

	// Tells the views once a frame, however much happens.
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

// What a result may know a download by.
const keysOf = ({ url, track }) => [url, track?.id].filter(Boolean);

// What decides where a download stands in the list.
const placeOf = ({ state, folder, filename, priority, labels }) => String([state, folder, filename, priority, labels]);

export const store = new RecordStore();
