// The services of the tests in Node: a real `pawl demo`, and a scripted one whose responses the test decides.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

// The time limit of every wait, in milliseconds.
const patience = 60_000;

// Waits until a condition is true, and returns its value.
export async function until(condition, what) {
	const end = Date.now() + patience;
	for (;;) {
		const value = await condition();
		if (value) return value;
		assert(Date.now() < end, `waited in vain: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}

export class Service {
	static async start(t, ...flags) {
		const service = new Service();
		service.directory = await mkdtemp(join(tmpdir(), "pawl-clients-"));
		service.flags = flags;
		service.port = 0;
		service.data = "data";
		t.after(async () => {
			await service.kill();
			await rm(service.directory, { recursive: true, force: true });
		});
		await service.run();
		return service;
	}

	// Starts, again on the same port.
	async run() {
		const data = join(this.directory, this.data);
		this.child = spawn(process.env.PAWL_BINARY, ["demo", "--port", this.port, "--data-dir", data, "--allow-destination", "127.0.0.1", ...this.flags], { stdio: ["ignore", "pipe", "ignore"] });
		const lines = createInterface({ input: this.child.stdout });
		const [line] = await once(lines, "line");
		this.url = line.split(" ").at(-1);
		this.port = new URL(this.url).port;
	}

	async kill() {
		if (this.child.exitCode !== null || this.child.signalCode !== null) return;
		this.child.kill("SIGKILL");
		await once(this.child, "exit");
	}

	async call(path, init) {
		const response = await fetch(this.url + path, init);
		assert(response.ok, `${path}: ${response.status}`);
		return response.status === 204 ? null : response.json();
	}
}

// A download as the service would list it.
export const download = (id, updatedAt, members = {}) => ({ id, url: `http://127.0.0.1/${id}`, state: "queued", updatedAt, labels: [], ...members });

export class Script {
	// The responses to `GET /downloads` and others: functions of request and response.
	list = (_, response) => Script.json(response, { items: [], nextCursor: null, total: 0 });
	other = (_, response) => Script.json(response, {});
	events = (_, response) => Script.open(response);
	requests = [];
	streams = new Set();

	static async start(t) {
		const script = new Script();
		const server = createServer((request, response) => {
			script.requests.push({ path: request.url, headers: request.headers, time: Date.now() });
			if (request.url.startsWith("/downloads/events")) {
				script.streams.add(response);
				response.on("close", () => script.streams.delete(response));
				script.events(request, response);
			} else if (request.url.startsWith("/downloads?")) script.list(request, response);
			else script.other(request, response);
		});
		server.listen(0, "127.0.0.1");
		await once(server, "listening");
		t.after(() => {
			server.closeAllConnections();
			server.close();
		});
		script.url = `http://127.0.0.1:${server.address().port}`;
		return script;
	}

	static json(response, value, status = 200, headers = {}) {
		response.writeHead(status, { "Content-Type": status < 400 ? "application/json" : "application/problem+json", ...headers });
		response.end(JSON.stringify(value));
	}

	static open(response) {
		response.writeHead(200, { "Content-Type": "text/event-stream" });
		response.flushHeaders();
	}

	paths(start) {
		return this.requests.filter(({ path }) => path.startsWith(start));
	}

	send(name, data, id = "e-1") {
		for (const stream of this.streams) stream.write(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
	}

	// The stream, once there is one.
	stream = () => until(() => this.streams.size === 1, "there is a stream");

	breakOff() {
		for (const stream of this.streams) stream.destroy();
	}
}
