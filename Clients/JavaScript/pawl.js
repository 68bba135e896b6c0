// A client of Pawl for browsers and Node. pawl.d.ts describes it.

// In ms; a stream has something every 4 s.
const [responseLimit, streamSilence, leaderSilence, stallLimit] = [60_000, 40_000, 20_000, 10_000];
const [mediaAttempts, listLimit, eventLimit] = [10, 20_000, 64 << 20];
// By media element.
const attached = new WeakMap();

export class PawlError extends Error {
	name = "PawlError";

	constructor(code, status, detail, retryAfter = null, problem = null) {
		super(detail);
		Object.assign(this, { code, status, detail, retryAfter, problem });
	}
}

export class Pawl {
	#token;
	#ticket = {};
	#searches = new Map();
	#name = randomName();

	constructor(url, { token, onEvent, onStatus = ({ error }) => error && console.warn(error) } = {}) {
		const { origin, pathname } = new URL(url, globalThis.document?.baseURI);
		this.url = origin + pathname.replace(/\/?$/, "/");
		this.#token = token;
		Object.assign(this, liveList(this, token, onEvent, onStatus));
	}

	async fetch(path, { headers, ...init } = {}) {
		const url = this.#resolve(path);
		if (this.#token) headers = { ...headers, Authorization: `Bearer ${this.#token}` };
		const response = await fetch(url, { ...init, headers }).catch((error) => {
			throw causeOf(error, init.signal, `no connection to ${this.url}, or its --cors-origin lacks this page's origin`);
		});
		if (!response.ok) throw await errorOf(response);
		return response;
	}

	async request(method, path, { body, query = {}, signal } = {}) {
		const url = this.#resolve(path);
		for (const [name, value] of Object.entries(query)) for (const each of [value ?? []].flat()) url.searchParams.append(name, each);
		const headers = body && { "Content-Type": "application/json" };
		const limit = limited(signal, responseLimit);
		try {
			const response = await this.fetch(url, { method, headers, body: JSON.stringify(body), signal: limit.signal });
			if (response.status === 204) return null;
			if (!isJSON(response)) throw await errorOf(response);
			return await response.json();
		} catch (error) {
			throw causeOf(error, limit.signal);
		} finally {
			limit.end();
		}
	}

	// Keeps the token from other hosts.
	#resolve(path) {
		const url = new URL(path, this.url);
		if (!url.href.startsWith(this.url)) throw new TypeError(`${url} is not at ${this.url}`);
		return url;
	}

	async search(term, { session, signal, ...query } = {}) {
		const search = limited(signal);
		if (session) {
			this.#searches.get(session)?.abort(new PawlError("search-superseded", 409, "a newer search has replaced this one"));
			this.#searches.set(session, search);
			// Other users may have a session of the same name.
			query.session = this.#name + session;
		}
		return this.request("GET", "search", { query: { term, ...query }, signal: search.signal }).finally(search.end);
	}

	add = (body, options) => this.request("POST", "downloads", { ...options, body });
	pause = (id, options) => this.#command(id, "pause", options);
	resume = (id, options) => this.#command(id, "resume", options);
	cancel = (id, options) => this.#command(id, "cancel", options);
	retry = (id, options) => this.#command(id, "retry", options);
	remove = (id, { deleteFile = false, signal } = {}) => this.request("DELETE", pathOf(id), { query: { deleteFile }, signal });
	#command = (id, verb, options) => this.request("POST", `${pathOf(id)}/${verb}`, options);

	async fileURL(id, { signal } = {}) {
		const url = this.#resolve(`${pathOf(id)}/file`);
		if (this.#token) {
			if (!(Date.now() < this.#ticket.end)) {
				const { ticket, expiresInSeconds } = await this.request("POST", "tickets", { signal });
				this.#ticket = { ticket, end: Date.now() + 500 * expiresInSeconds };
			}
			url.searchParams.set("ticket", this.#ticket.ticket);
		}
		return url.href;
	}

	attach(media, id, { signal: outer } = {}) {
		const { signal, abort, end } = limited(outer);
		attached.get(media)?.();
		attached.set(media, abort);
		let [url, attempts, failedAt, timer, busy] = ["", 0, 0];
		const load = async () => {
			if (busy || signal.aborted) return;
			// The page may have loaded something else.
			if (attempts > mediaAttempts || (url && media.src !== url)) return abort();
			busy = true;
			failedAt = media.currentTime;
			try {
				if (attempts++ > 1) await pause(pauseAfter(attempts - 3), signal);
				if (url) this.#ticket = {};
				const next = await this.fileURL(id, { signal });
				signal.throwIfAborted();
				const { currentTime, paused, playbackRate } = media;
				media.src = next;
				// At first, they are another file's.
				if (url) Object.assign(media, { currentTime, playbackRate });
				url = next;
				if (!paused) media.play().catch(() => {});
			} catch (error) {
				if (isRefusal(error)) abort();
				setTimeout(load);
			}
			busy = false;
		};
		// Some failures have no error event.
		const check = ({ type }) => {
			clearTimeout(timer);
			if (type === "error") return load();
			if (Math.abs(media.currentTime - failedAt) > 1 && media.readyState > 2) attempts = 1;
			timer = setTimeout(() => media.readyState < 3 && (media.seeking || !media.paused) && load(), stallLimit);
		};
		for (const type of ["error", "timeupdate", "waiting", "stalled", "seeking"]) media.addEventListener(type, check, { signal });
		signal.addEventListener("abort", () => clearTimeout(timer, end()));
		load();
		return () => abort();
	}
}

// All downloads, kept current by events while there are listeners.
function liveList(pawl, token, onEvent, onStatus) {
	const [items, listeners] = [new Map(), new Set()];
	let [snapshot, order, isKnown, hasChanged, loading, isReset] = [Object.freeze([])];
	// The ids known since a reading began.
	let fresh = new Set();
	const path = "downloads/events" + (onEvent ? "?include=subscriptions" : "");
	const open = (headers, signal) => pawl.fetch(path, { headers, signal, cache: "no-store" });
	const stream = sharedStream({ key: [pawl.url, path, token].join(), open, take, onStatus, refuse });

	function put(item, isEvent) {
		const { id, updatedAt } = item;
		const old = items.get(id);
		// Only a reset makes records older.
		if (old?.updatedAt > updatedAt && (!fresh || fresh.has(id) || (isEvent && !isReset))) return;
		fresh?.add(id);
		if (JSON.stringify(old) === JSON.stringify(item)) return;
		if (!old) order = null;
		items.set(id, frozen(item));
		hasChanged = true;
	}

	function remove(id) {
		fresh?.add(id);
		if (items.delete(id)) [order, hasChanged] = [null, true];
	}

	async function load(live) {
		loading?.abort();
		const { signal } = (loading = new AbortController());
		[fresh, isReset] = [new Set(), live];
		live?.forEach((item) => put(item));
		let [cursor, count, failures] = [undefined, 0, 0];
		while (cursor !== null && count < listLimit) {
			try {
				const page = await pawl.request("GET", "downloads", { query: { limit: 200, cursor }, signal });
				signal.throwIfAborted();
				for (const item of page.items) if (!fresh.has(item.id)) put(item);
				if (!isKnown) isKnown = hasChanged = true;
				publish();
				[cursor, count, failures] = [page.nextCursor, count + page.items.length, 0];
			} catch (error) {
				if (signal.aborted) return;
				if (isRefusal(error)) return refuse(error);
				await pause(pauseAfter(failures++, error.retryAfter), signal);
			}
		}
		for (const id of items.keys()) if (!fresh.has(id)) remove(id);
		fresh = null;
		publish();
	}

	function take(events) {
		for (const { name, data } of events) {
			if (name === "snapshot" || name === "missed") load(data);
			if (name === "download") put(data, true);
			if (name === "removed") remove(data.id);
			if (onEvent) queueMicrotask(() => onEvent(name, data));
		}
		publish();
	}

	function publish() {
		if (!hasChanged || !isKnown) return;
		hasChanged = false;
		// Ids rise with time.
		order ??= [...items.keys()].sort().reverse();
		if (order.length + snapshot.length > 0) snapshot = Object.freeze(order.map((id) => items.get(id)));
		listeners.forEach(notify);
	}

	const notify = (listener) => queueMicrotask(() => listeners.has(listener) && listener(snapshot));

	function stop() {
		loading?.abort();
		stream.run(false, !fresh);
	}

	function refuse(error) {
		stop();
		onStatus({ state: "stopped", error });
	}

	function subscribe(callback, { signal } = {}) {
		const listener = (snapshot) => callback(snapshot);
		const end = () => listeners.delete(listener) && listeners.size === 0 && stop();
		listeners.add(listener);
		if (isKnown) notify(listener);
		stream.run(true);
		signal?.addEventListener("abort", end);
		if (signal?.aborted) end();
		return end;
	}

	function reconnect() {
		stream.run(listeners.size > 0);
		stream.hurry();
	}

	return { watch: subscribe, subscribe, getSnapshot: () => snapshot, reconnect };
}

// One stream for all tabs: the leader has a lock, and passes events on. Another tab replaces one that closes or freezes. Without locks,
// each visible tab has a stream.
function sharedStream({ key, open, take, onStatus, refuse }) {
	const shares = globalThis.isSecureContext && globalThis.origin !== "null" && navigator.locks;
	let [isOn, isAway, status, lastID, position] = [false, false, {}, null, null];
	// `relay` is there in the leader, `wake` between two attempts.
	let [controller, channel, relay, wake] = [];

	function run(on, keepsID = true) {
		if (!keepsID) lastID = position = null;
		if (on === isOn) return;
		[isOn, isAway, status] = [on, false, {}];
		const change = on ? "addEventListener" : "removeEventListener";
		// Some do not bubble.
		for (const type of ["visibilitychange", "freeze", "resume", "pagehide", "pageshow", "online"]) globalThis[change]?.(type, update, true);
		update({});
	}

	function update({ type }) {
		if (/freeze|pagehide/.test(type)) isAway = true;
		if (/resume|pageshow/.test(type)) isAway = false;
		if (type === "online") wake?.();
		const wants = isOn && !isAway && (shares || !globalThis.document?.hidden);
		if (!wants === !controller) return;
		controller?.abort();
		controller = wants ? new AbortController() : null;
		if (!wants) return;
		const { signal } = controller;
		(shares ? share(signal) : follow(signal)).catch((error) => signal.aborted || refuse(error));
	}

	async function share(signal) {
		// The name does not show the token.
		const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
		const name = `pawl ${new Uint8Array(digest)}`;
		if (signal.aborted) return;
		const own = (channel = new BroadcastChannel(name));
		let [timer, steals, term] = [];
		const schedule = (action, time) => {
			clearTimeout(timer);
			timer = setTimeout(action, time);
		};
		const ask = () => {
			own.postMessage("ask");
			// A leader without an answer is frozen.
			schedule(() => term.abort(void (steals = true)), 5000 * (1 + Math.random()));
		};
		own.onmessage = ({ data }) => {
			if (data === "ask") {
				wake?.();
				relay?.([]);
			} else if (!relay) {
				schedule(ask, leaderSilence);
				hear(data);
			}
		};
		const lead = () => {
			clearTimeout(timer);
			if (signal.aborted) return;
			steals = false;
			relay = (events) => own.postMessage({ before: position, position: (position = randomName()), lastID, events, status });
			relay([]);
			return follow(term.signal);
		};
		signal.addEventListener("abort", () => {
			clearTimeout(timer);
			own.close();
			term.abort();
			channel = relay = null;
		});
		ask();
		while (!signal.aborted) {
			term = new AbortController();
			try {
				return await navigator.locks.request(name, steals ? { steal: true } : { signal: term.signal }, lead);
			} catch (error) {
				if (error.name !== "AbortError" || signal.aborted) throw error;
				if (relay) schedule(ask, leaderSilence);
				relay = null;
				term.abort();
			}
		}
	}

	function hear(message) {
		const follows = message.before === position;
		tell(message.status);
		// A list read now could be newer than the leader's next events.
		if (!follows && status.state !== "online") return (position = null);
		({ position, lastID } = message);
		take(follows ? message.events : [{ name: "missed" }, ...message.events]);
	}

	async function follow(signal) {
		for (let failures = 0; !signal.aborted; failures++) {
			tell({ state: "connecting" });
			const begin = Date.now();
			const error = await read(signal).catch((error) => error);
			if (signal.aborted) return;
			if (isRefusal(error)) throw error;
			if (status.state === "online" && Date.now() - begin > 10_000) failures = 0;
			const retryIn = pauseAfter(failures, error.retryAfter);
			tell({ state: "offline", error, retryIn });
			const waiting = limited(signal, 1000 * retryIn);
			wake = waiting.abort;
			await ended(waiting);
			wake = null;
		}
	}

	async function read(outer) {
		const { signal, abort, restart, end } = limited(outer, streamSilence);
		try {
			const response = await open(lastID ? { "Last-Event-ID": lastID } : {}, signal);
			if (!/^text\/event-stream/.test(response.headers.get("Content-Type"))) throw await errorOf(response);
			tell({ state: "online" });
			const [reader, parse] = [response.body.pipeThrough(new TextDecoderStream()).getReader(), eventParser()];
			for (;;) {
				restart();
				const { value, done } = await reader.read();
				if (done) throw new PawlError("no-connection", 0, "the stream has ended");
				const events = parse(value);
				for (const { id } of events) lastID = id ?? lastID;
				// Shows that this tab is alive.
				relay?.(events);
				take(events);
			}
		} catch (error) {
			throw causeOf(error, signal);
		} finally {
			abort();
			end();
		}
	}

	function tell(news) {
		if (JSON.stringify(news) !== JSON.stringify(status)) queueMicrotask(() => onStatus(news));
		status = news;
		relay?.([]);
	}

	return { run, hurry: () => (wake ? wake() : channel?.postMessage("ask")) };
}

function eventParser() {
	let [rest, data, fields] = ["", "", {}];
	return (text) => {
		const [events, lines] = [[], (rest + text.replaceAll("\r", "")).split("\n")];
		rest = lines.pop();
		if (rest.length + data.length > eventLimit) throw new PawlError("unexpected-response", 200, "an event is too long");
		for (const line of lines) {
			const [name, value] = line.split(/: ?(.*)/s);
			if (name === "data") data += value;
			else if (line) fields[name] = value;
			else if (data) events.push({ id: fields.id, name: fields.event, data: JSON.parse(data) });
			if (!line) [data, fields] = ["", {}];
		}
		return events;
	};
}

const pathOf = (id) => `downloads/${encodeURIComponent(id)}`;
const randomName = () => Math.random().toString(36).slice(2);
const isJSON = ({ headers }) => /[/+]json\b/.test(headers.get("Content-Type"));
const isRefusal = ({ status }) => status === 401 || status === 403;

async function errorOf(response) {
	const { status, headers } = response;
	const problem = isJSON(response) ? await response.json().catch(() => null) : null;
	response.body?.cancel().catch(() => {});
	const { code = "unexpected-response", detail = `unexpected status ${status}` } = problem ?? {};
	return new PawlError(code, status, detail, Number(headers.get("Retry-After")) || null, problem);
}

function causeOf(error, signal, detail = error.message) {
	if (signal?.aborted) return signal.reason;
	return error instanceof PawlError ? error : new PawlError("no-connection", 0, detail);
}

// Random, so that clients spread.
const pauseAfter = (failures, retryAfter) => Math.max(Math.min(30, 0.5 * 2 ** failures), Math.min(300, retryAfter ?? 0)) * (1 + Math.random() / 2);

// A signal that is aborted with another one, and after a time.
function limited(outer, time) {
	const controller = new AbortController();
	const abort = (reason) => controller.abort(reason);
	const follow = () => abort(outer.reason);
	outer?.addEventListener("abort", follow);
	if (outer?.aborted) follow();
	let timer;
	const restart = () => {
		clearTimeout(timer);
		timer = setTimeout(() => abort(new PawlError("timed-out", 0, "the service does not respond")), time);
	};
	if (time) restart();
	const end = () => {
		clearTimeout(timer);
		outer?.removeEventListener("abort", follow);
	};
	return { signal: controller.signal, abort, restart, end };
}

const ended = ({ signal, end }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(end())));
const pause = (seconds, signal) => ended(limited(signal, 1000 * seconds));

function frozen(value) {
	if (value instanceof Object) Object.values(value).forEach(frozen);
	return Object.freeze(value);
}
