import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import test from "node:test";
import { Pawl, PawlError } from "../../Clients/JavaScript/pawl.js";
import { Script, Service, download, until } from "./harness.mjs";

const ids = (list) => list.map(({ id }) => id);

// A Pawl that the test closes, with its statuses.
function pawlOf(t, url, options) {
	const statuses = [];
	const control = new AbortController();
	const pawl = new Pawl(url, { onStatus: (status) => statuses.push(status), ...options });
	t.after(() => control.abort());
	return { pawl, statuses, signal: control.signal, lists: [] };
}

// Also records the lists.
function watching(t, url, options) {
	const all = pawlOf(t, url, options);
	all.stop = all.pawl.watch((list) => all.lists.push(list), { signal: all.signal });
	all.until = (condition, what) => until(() => all.lists.length > 0 && condition(all.lists.at(-1)), what);
	return all;
}

test("Ten lines search, add, watch, command and remove", async (t) => {
	const service = await Service.start(t);
	const { pawl, lists, until: listed } = watching(t, service.url);
	await listed((list) => list.length === 0, "the empty list");
	const { results } = await pawl.search("prelude", { limit: 2, media: "music" });
	const added = await pawl.add({ trackId: results[0].id });
	await listed(([first]) => first?.state === "completed", "the download is completed");
	assert.deepEqual(lists.at(-1), (await service.call("/downloads")).items);
	const { origin } = new URL(results[0].downloadUrl);
	const slow = await pawl.add({ url: `${origin}/entity?size=9000000&seed=1`, speedLimit: 1000 });
	await listed((list) => list[0].bytesReceived > 0, "bytes arrive");
	assert.equal((await pawl.pause(slow.id)).state, "paused");
	await listed((list) => list[0].state === "paused", "it is paused");
	assert.equal((await pawl.resume(slow.id)).id, slow.id);
	assert.equal((await pawl.cancel(slow.id)).state, "cancelled");
	await listed((list) => list[0].state === "cancelled", "it is cancelled");
	assert.equal((await pawl.retry(slow.id)).id, slow.id);
	assert.equal(await pawl.remove(slow.id), null);
	await listed((list) => list.length === 1, "it is removed");
	const url = await pawl.fileURL(added.id);
	assert.equal(url, `${service.url}/downloads/${added.id}/file`, "absolute, without a ticket");
	assert.equal((await fetch(url)).status, 200);
	assert.equal(await pawl.remove(added.id, { deleteFile: true }), null);
});

test("subscribe and getSnapshot work unbound; lists and downloads are frozen", async (t) => {
	const service = await Service.start(t);
	const { subscribe, getSnapshot, add } = pawlOf(t, service.url).pawl;
	const first = getSnapshot();
	assert.deepEqual(first, []);
	let calls = 0;
	const end = subscribe(() => (calls += 1));
	await until(() => calls === 1, "the first call");
	assert.equal(getSnapshot(), first, "an empty list is the same list");
	await add({ url: "http://127.0.0.1:9/a", paused: true, labels: ["one"] });
	await until(() => getSnapshot().length === 1, "the download is there");
	assert.ok(Object.isFrozen(getSnapshot()) && Object.isFrozen(getSnapshot()[0]) && Object.isFrozen(getSnapshot()[0].labels));
	end();
});

test("watch continues after kill -9 and a start with the same records, and keeps what has not changed", async (t) => {
	const service = await Service.start(t);
	const { pawl, lists, statuses, until: listed } = watching(t, service.url);
	for (const name of ["a", "b", "c"]) await pawl.add({ url: `http://127.0.0.1:9/${name}`, paused: true });
	const before = await listed((list) => list.length === 3 && list, "three downloads");
	await service.kill();
	await until(() => statuses.at(-1).state === "offline", "offline");
	assert.ok(statuses.at(-1).error instanceof PawlError && statuses.at(-1).retryIn > 0);
	assert.equal(lists.at(-1), before, "the list stays");
	await service.run();
	await until(() => statuses.at(-1).state === "online", "online");
	const fourth = await service.call("/downloads", { method: "POST", body: '{"url":"http://127.0.0.1:9/d","paused":true}', headers: { "Content-Type": "application/json" } });
	const after = await listed((list) => list.length === 4 && list, "the fourth");
	assert.equal(after[0].id, fourth.id);
	for (const index of [0, 1, 2]) assert.equal(after[index + 1], before[index], "the same object");
});

test("A service with other records replaces the list", async (t) => {
	const service = await Service.start(t);
	const { pawl, until: listed } = watching(t, service.url);
	await pawl.add({ url: "http://127.0.0.1:9/a", paused: true });
	await listed((list) => list.length === 1, "the old record");
	await service.kill();
	service.data = "other";
	await service.run();
	await listed((list) => list.length === 0, "the old record is gone");
	const added = await pawl.add({ url: "http://127.0.0.1:9/b", paused: true });
	await listed((list) => ids(list).join() === added.id, "the new record alone");
});

test("A missing connection, a proxy's page, a problem and an abort are told apart", async (t) => {
	const script = await Script.start(t);
	const { pawl } = pawlOf(t, script.url);
	const closed = createServer().listen(0, "127.0.0.1");
	await once(closed, "listening");
	const { port } = closed.address();
	closed.close();
	await assert.rejects(new Pawl(`http://127.0.0.1:${port}`).add({}), (error) => error instanceof PawlError && error.code === "no-connection" && error.status === 0);
	const page = (status) => (_, response) => response.writeHead(status, { "Content-Type": "text/html" }).end("<p>Bad Gateway</p>");
	for (const status of [502, 200]) {
		script.other = page(status);
		await assert.rejects(pawl.pause("A"), (error) => error instanceof PawlError && error.code === "unexpected-response" && error.status === status);
	}
	script.other = (_, response) => Script.json(response, { code: "unavailable", detail: "later", status: 503 }, 503, { "Retry-After": "7" });
	await assert.rejects(pawl.pause("A"), { name: "PawlError", code: "unavailable", status: 503, detail: "later", message: "later", retryAfter: 7 });
	script.other = (_, response) => response.writeHead(200, { "Content-Type": "application/json" }).end("{");
	await assert.rejects(pawl.pause("A"), PawlError);
	script.other = () => {};
	const calls = [
		(options) => pawl.search("a", options), (options) => pawl.search("a", { session: "s", ...options }), (options) => pawl.add({}, options),
		(options) => pawl.pause("A", options), (options) => pawl.remove("A", options), (options) => pawl.request("GET", "stats", options),
		(options) => pawl.fetch("stats", options), (options) => new Pawl(script.url, { token: "t" }).fileURL("A", options),
	];
	for (const call of calls) {
		const control = new AbortController();
		const count = script.requests.length;
		const result = call({ signal: control.signal });
		await until(() => script.requests.length > count, "the request");
		control.abort();
		await assert.rejects(result, { name: "AbortError" });
		await assert.rejects(call({ signal: control.signal }), { name: "AbortError" }, "aborted before");
	}
});

test("A newer search of the session cancels the older one, and no other", async (t) => {
	const script = await Script.start(t);
	const { pawl } = pawlOf(t, script.url);
	const held = [];
	script.other = (_, response) => held.push(response);
	const [older, another, without] = [pawl.search("a", { session: "box" }), pawl.search("b", { session: "list" }), pawl.search("c")];
	const refusal = assert.rejects(older, { name: "PawlError", code: "search-superseded" });
	await until(() => held.length === 3, "three searches");
	const newer = pawl.search("d", { session: "box" });
	await refusal;
	await until(() => held.length === 4, "the newer search");
	for (const response of held) Script.json(response, { results: [] });
	await Promise.all([another, without, newer]);
	const sessions = script.paths("/search").map(({ path }) => new URL(path, script.url).searchParams.get("session"));
	assert.equal(sessions[0], sessions[3]);
	assert.notEqual(sessions[0], "box", "users of the same service have names of their own");
	assert.equal(sessions[2], null);
});

test("The token goes to the service alone", async (t) => {
	const script = await Script.start(t);
	const { pawl } = pawlOf(t, script.url + "/base", { token: "a secret" });
	await assert.rejects(pawl.request("GET", "http://127.0.0.1:9/"), TypeError);
	await pawl.request("GET", "stats", { query: { state: ["a", "b"], absent: undefined } });
	await pawl.request("GET", "/base/stats");
	assert.deepEqual(script.requests.map(({ path }) => path), ["/base/stats?state=a&state=b", "/base/stats"]);
	assert.ok(script.requests.every(({ headers }) => headers.authorization === "Bearer a secret"));
	script.other = (_, response) => Script.json(response, { ticket: "t1", expiresInSeconds: 300 }, 201);
	const [first, second] = [await pawl.fileURL("A"), await pawl.fileURL("A B")];
	assert.equal(first, `${script.url}/base/downloads/A/file?ticket=t1`);
	assert.equal(second, `${script.url}/base/downloads/A%20B/file?ticket=t1`);
	assert.equal(script.paths("/base/tickets").length, 1, "a ticket is used again");
});

test("A refused token stops the stream, and tells so", async (t) => {
	const script = await Script.start(t);
	const refuse = (_, response) => Script.json(response, { code: "unauthorized", detail: "no", status: 401 }, 401);
	script.events = script.list = refuse;
	const { pawl, statuses } = watching(t, script.url, { token: "wrong" });
	await until(() => statuses.at(-1)?.state === "stopped", "stopped");
	assert.equal(statuses.at(-1).error.code, "unauthorized");
	const count = script.requests.length;
	await new Promise((resolve) => setTimeout(resolve, 1500));
	assert.equal(script.requests.length, count, "no other attempt");
	pawl.reconnect();
	await until(() => script.requests.length > count, "an attempt that was wanted");
	await until(() => statuses.filter(({ state }) => state === "stopped").length === 2, "stopped again");
});

test("Events during a reading are newer than its pages, and older ones are left out", async (t) => {
	const script = await Script.start(t);
	const pages = [];
	script.list = (request, response) => pages.push({ request, response });
	const { lists, until: listed } = watching(t, script.url);
	await script.stream();
	script.send("snapshot", [download("C", "2", { state: "downloading" })]);
	await until(() => pages.length === 1, "the first page is asked for");
	assert.equal(lists.length, 0, "no list before the first page");
	// D is new, C is completed, B is removed: all after the page was made.
	script.send("download", download("D", "4"), "e-2");
	script.send("download", download("C", "3", { state: "completed" }), "e-3");
	script.send("removed", { id: "B" }, "e-4");
	script.send("download", download("E", "9", { state: "failed" }), "e-5");
	await new Promise((resolve) => setTimeout(resolve, 100));
	Script.json(pages[0].response, { items: [download("C", "2"), download("B", "1"), download("A", "5", { state: "completed" })], nextCursor: "A", total: 5 });
	await until(() => pages.length === 2, "the second page is asked for");
	assert.match(pages[1].request.url, /cursor=A/);
	// Sent before the page that was newer.
	script.send("download", download("A", "4", { state: "downloading" }), "e-6");
	Script.json(pages[1].response, { items: [download("0", "1")], nextCursor: null, total: 5 });
	const list = await listed((list) => list.length === 5 && list, "the whole list");
	assert.deepEqual(ids(list), ["E", "D", "C", "A", "0"]);
	assert.deepEqual(list.map(({ state }) => state), ["failed", "queued", "completed", "completed", "queued"]);
	// The list that becomes known in steps never has what is gone.
	for (const each of lists) assert.ok(!ids(each).includes("B"));
	for (const each of lists) assert.ok(!each.some(({ id, state }) => id === "C" && state !== "completed"));
});

test("A late event of another tab does not take a download back", async (t) => {
	const script = await Script.start(t);
	const items = [download("A", "5", { state: "completed" })];
	const pages = [];
	script.list = (_, response) => pages.push(response);
	// Another tab has the lock, and passes its events on.
	const locks = { request: (_, { signal }) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new DOMException("", "AbortError")))) };
	const globals = { navigator: { locks }, isSecureContext: true, origin: script.url };
	for (const [name, value] of Object.entries(globals)) {
		const known = Object.getOwnPropertyDescriptor(globalThis, name);
		Object.defineProperty(globalThis, name, { value, configurable: true });
		t.after(() => (known ? Object.defineProperty(globalThis, name, known) : delete globalThis[name]));
	}
	const key = [new Pawl(script.url).url, "downloads/events", ""].join();
	const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
	const leader = new BroadcastChannel(`pawl ${new Uint8Array(digest)}`);
	t.after(() => leader.close());
	const send = (before, position, events) => leader.postMessage({ before, position, lastID: position, events, status: { state: "online" } });
	const asked = new Promise((resolve) => {
		leader.onmessage = ({ data }) => resolve(data);
	});
	const { lists, until: listed } = watching(t, script.url);
	assert.equal(await asked, "ask");
	send(null, "e-1", [{ name: "snapshot", data: [] }]);
	await until(() => pages.length === 1, "the list is read");
	Script.json(pages[0], { items, nextCursor: null, total: 1 });
	await listed((list) => list.length === 1, "the download");
	// A message is missing before this one, whose event is older than the list.
	send("e-2", "e-3", [{ name: "download", data: download("A", "4", { state: "downloading" }) }]);
	await until(() => pages.length === 2, "the list is read again");
	send("e-3", "e-4", [{ name: "download", data: download("B", "6") }]);
	await listed((list) => list.length === 2, "the next event");
	Script.json(pages[1], { items: [download("B", "6"), ...items], nextCursor: null, total: 2 });
	await new Promise((resolve) => setTimeout(resolve, 100));
	assert.ok(lists.every((list) => list.every(({ id, state }) => id !== "A" || state === "completed")));
	// A snapshot may take it back: the database was restored.
	send("e-4", "e-5", [{ name: "snapshot", data: [] }, { name: "download", data: download("A", "3", { state: "paused" }) }]);
	await listed((list) => list.at(-1).state === "paused", "the older state");
});

test("A reconnection sends the last id; a snapshot reads the list again, and drops what is gone", async (t) => {
	const script = await Script.start(t);
	let items = [download("B", "5"), download("A", "5")];
	script.list = (_, response) => Script.json(response, { items, nextCursor: null, total: items.length });
	const { lists, until: listed } = watching(t, script.url);
	await script.stream();
	script.send("snapshot", [download("B", "5")], "e-7");
	const before = await listed((list) => list.length === 2 && list, "both");
	assert.equal(script.paths("/downloads/events")[0].headers["last-event-id"], undefined);
	script.breakOff();
	await until(() => script.paths("/downloads/events").length === 2, "another stream");
	assert.equal(script.paths("/downloads/events")[1].headers["last-event-id"], "e-7");
	assert.equal(script.paths("/downloads?").length, 1, "not read again");
	// A restored database knows older versions, and lacks one.
	items = [download("A", "3")];
	await script.stream();
	script.send("snapshot", [], "f-1");
	const after = await listed((list) => list.length === 1 && list, "one is gone");
	assert.equal(after[0].updatedAt, "3");
	items = [download("A", "3"), download("9", "1")];
	script.send("snapshot", [], "f-2");
	assert.equal((await listed((list) => list.length === 2 && list, "two"))[0], after[0], "unchanged downloads are the same objects");
	const count = lists.length;
	script.send("snapshot", [], "f-3");
	script.send("download", download("A", "3"), "f-4");
	await until(() => script.paths("/downloads?").length === 4, "read again");
	await new Promise((resolve) => setTimeout(resolve, 100));
	assert.equal(lists.length, count, "no new list when nothing has changed");
	assert.notEqual(before, after);
});

test("Pages that fail are asked for again, and all pages are read", async (t) => {
	const script = await Script.start(t);
	let failures = 2;
	const names = Array.from({ length: 450 }, (_, index) => String(9000 - index));
	script.list = (request, response) => {
		if (failures-- > 0) return Script.json(response, { code: "unavailable", detail: "later", status: 503 }, 503);
		const { searchParams } = new URL(request.url, script.url);
		const begin = names.indexOf(searchParams.get("cursor")) + 1;
		const page = names.slice(begin, begin + Number(searchParams.get("limit")));
		Script.json(response, { items: page.map((id) => download(id, "1")), nextCursor: begin + 200 < 450 ? page.at(-1) : null, total: 450 });
	};
	const { until: listed } = watching(t, script.url);
	await script.stream();
	script.send("snapshot", []);
	const list = await listed((list) => list.length === 450 && list, "all");
	assert.deepEqual(ids(list), names);
	assert.equal(script.paths("/downloads?").length, 5);
});

test("Attempts have pauses that double and vary; a Retry-After is heeded", async (t) => {
	const script = await Script.start(t);
	script.events = (_, response) => Script.json(response, { code: "unavailable", detail: "starting", status: 503 }, 503);
	const { statuses } = watching(t, script.url);
	await until(() => script.requests.length === 4, "four attempts");
	const pauses = script.requests.slice(1).map(({ time }, index) => (time - script.requests[index].time) / 1000);
	pauses.forEach((pause, index) => assert.ok(pause >= 0.49 * 2 ** index, `pauses of ${pauses} s`));
	script.events = (_, response) => Script.json(response, { code: "unavailable", detail: "starting", status: 503 }, 503, { "Retry-After": "400" });
	await until(() => statuses.at(-1).retryIn > 20, "a long pause");
	assert.ok(statuses.at(-1).retryIn >= 300 && statuses.at(-1).retryIn <= 450, "bounded");
});

test("A page instead of the stream, an end and a reset are followed by another attempt", async (t) => {
	const script = await Script.start(t);
	const events = [
		(_, response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<p>Log in</p>"),
		(_, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end(),
		(_, response) => response.destroy(),
	];
	script.events = (request, response) => (events.shift() ?? ((_, response) => Script.open(response)))(request, response);
	const { statuses } = watching(t, script.url);
	await until(() => script.paths("/downloads/events").length === 4, "four attempts");
	await until(() => statuses.at(-1).state === "online", "online");
});

test("Pieces that break lines and characters are one event", async (t) => {
	const script = await Script.start(t);
	const { until: listed } = watching(t, script.url);
	await script.stream();
	const [stream] = script.streams;
	const [first, second] = [download("Ä\u2028: 😀", "1"), download("A", "2")].map((item) => JSON.stringify(item));
	const bytes = Buffer.from(`: comment\n\n:\nretry: 1000\nid: e-1\nevent: snapshot\ndata: [${first},\ndata: ${second}]\n\n:\n:\n`);
	for (const byte of bytes) stream.write(Buffer.from([byte]));
	await listed((list) => list[0]?.id === "Ä\u2028: 😀" && list[1]?.id === "A", "the event of two lines");
});

test("The last watcher closes the stream, and another one opens it where it ended", async (t) => {
	const script = await Script.start(t);
	const { pawl, stop } = watching(t, script.url);
	const end = pawl.subscribe(() => {});
	await script.stream();
	script.send("snapshot", [], "e-9");
	await until(() => script.paths("/downloads?").length === 1, "the list");
	await new Promise((resolve) => setTimeout(resolve, 50));
	stop();
	assert.equal(script.streams.size, 1);
	end();
	await until(() => script.streams.size === 0, "the stream is closed");
	const control = new AbortController();
	pawl.watch(() => {}, { signal: control.signal });
	await until(() => script.paths("/downloads/events").length === 2, "another stream");
	assert.equal(script.paths("/downloads/events")[1].headers["last-event-id"], "e-9");
	control.abort();
	await until(() => script.streams.size === 0, "a signal closes it as well");
	pawl.watch(() => assert.fail("called after an abort"), { signal: control.signal });
	assert.equal(script.paths("/downloads/events").length <= 3, true);
});

test("An error of a callback disturbs no other", async (t) => {
	const script = await Script.start(t);
	const { pawl, signal } = pawlOf(t, script.url);
	const errors = [];
	const note = (error) => errors.push(error.message);
	process.setUncaughtExceptionCaptureCallback(note);
	t.after(() => process.setUncaughtExceptionCaptureCallback(null));
	const lists = [];
	pawl.watch(() => { throw new Error("a fault of the page"); }, { signal });
	pawl.watch((list) => lists.push(list), { signal });
	await script.stream();
	script.send("snapshot", [download("A", "1")]);
	await until(() => lists.length > 0, "the other callback");
	await until(() => errors.length > 0, "the error is reported");
	assert.equal(errors[0], "a fault of the page");
});

test("Events of subscriptions come only where they are wanted", async (t) => {
	const script = await Script.start(t);
	const events = [];
	watching(t, script.url, { onEvent: (name, data) => events.push([name, data]) });
	await script.stream();
	assert.match(script.requests[0].path, /include=subscriptions/);
	script.send("snapshot", []);
	script.send("subscription", { id: "S" });
	await until(() => events.length === 2, "both events");
	assert.deepEqual(events, [["snapshot", []], ["subscription", { id: "S" }]]);
});
