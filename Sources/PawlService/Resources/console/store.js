// The known downloads: events keep them current, and pages of the list add the ended ones.

import { call, follow } from "./api.js";

// 100,000 downloads would take a gigabyte.
const loadLimit = 20_000;

export const activeStates = ["downloading", "queued", "retrying"];
export const states = [...activeStates, "paused", "failed", "completed", "cancelled"];

class RecordStore extends EventTarget {
	all = new Map();
	// The number of all downloads of the service.
	total = 0;
	isLoading = true;
	// Called for each change of a state; set by the page.
	onTransition;
	#newest = new Map();
	#changed = new Set();
	#hasMoved = false;
	// Downloads with events while the list is read.
	#updated = new Set();

	start(onState) {
		this.reconnect = follow((name, data) => this.#take(name, data), onState);
	}

	// The newest download of a search result.
	of({ id, downloadUrl, download }) {
		return this.all.get(this.#newest.get(id) ?? this.#newest.get(downloadUrl) ?? download?.id);
	}

	#take(name, data) {
		this.dispatchEvent(new CustomEvent(name, { detail: data }));
		if (name.startsWith("subscription")) return;
		if (name === "snapshot") {
			for (const download of data) this.put(download);
			this.#load(new Set(data.map(({ id }) => id)));
		} else {
			this.#updated.add(data.id);
			if (name === "removed") this.remove(data.id);
			else this.put(data);
		}
	}

	put(download) {
		const { id, state, updatedAt, track } = download;
		// Members of a track may have any type.
		for (const name in track) if (track[name] instanceof Object) delete track[name];
		const before = this.all.get(id);
		if (before?.updatedAt > updatedAt) return;
		this.all.set(id, download);
		if (before && before.state !== state) this.onTransition(download);
		for (const key of keysOf(download)) if (!(this.#newest.get(key) > id)) this.#newest.set(key, id);
		this.#note(id, !before || orderOf(before) !== orderOf(download));
	}

	remove(id) {
		const download = this.all.get(id);
		if (!download) return;
		this.all.delete(id);
		for (const key of keysOf(download)) if (this.#newest.get(key) === id) this.#newest.delete(key);
		this.#note(id, true);
	}

	// Reads the list, and removes downloads that it lacks.
	async #load(updated) {
		this.#updated = updated;
		this.isLoading = true;
		const seen = new Set();
		let cursor = "";
		try {
			do {
				const page = await call("GET", `downloads?limit=200${cursor && "&cursor=" + cursor}`);
				// A newer snapshot reads the list again.
				if (this.#updated !== updated) return;
				for (const download of page.items) {
					seen.add(download.id);
					if (!updated.has(download.id)) this.put(download);
				}
				cursor = page.nextCursor;
				this.total = page.total;
			} while (cursor && seen.size < loadLimit);
			for (const id of this.all.keys()) if (!seen.has(id) && !updated.has(id) && !(id < cursor)) this.remove(id);
		} catch {
			// The stream fails as well, and the next one begins with a snapshot.
		}
		this.isLoading = false;
		this.#note(null, true);
	}

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

export const store = new RecordStore();
