// <pawl-downloads src="https://pawl.example" token="…">: the downloads of a service. docs/clients.md lists its parts and custom properties.

import { Pawl } from "./pawl.js";

// Downloads that run have rows beyond it.
const rowLimit = 200;

// A sheet works where a policy forbids inline styles.
const sheet = new CSSStyleSheet();
sheet.replaceSync(`
	:host { display: block; }
	:host([hidden]), [hidden] { display: none; }
	ul { list-style: none; margin: 0; padding: 0; }
	li { display: flex; flex-wrap: wrap; gap: 0.25em 0.5em; align-items: center;
		padding: 0.5em 0; border-bottom: 1px solid var(--pawl-border, #8884); }
	[part=name] { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
	[part=bar], [part=status] { width: 100%; }
	[part=bar] { height: var(--pawl-bar, 4px); overflow: hidden; border-radius: 99px; background: var(--pawl-track, #8883); }
	[part=fill] { height: 100%; background: var(--pawl-accent, AccentColor); }
	[part=status] { font-size: 0.85em; opacity: 0.8; overflow-wrap: anywhere; }`);

const liveStates = ["queued", "downloading", "paused", "retrying"];

// The main button's label, and its command if it has another name.
function actionOf({ state, error, fileMissing }) {
	if (state === "completed") return fileMissing ? [] : ["Save"];
	// Keeps the bytes, unless they are wrong.
	if (state === "failed" && error.code !== "checksum-mismatch") return ["Retry", "resume"];
	return [{ paused: "Resume", failed: "Retry", cancelled: "Retry" }[state] ?? "Pause"];
}

const size = (bytes) => `${(Math.floor(bytes / 104857.6) / 10).toFixed(1)} MiB`;

function statusOf({ state, error, bytesReceived, bytesTotal, bytesPerSecond, fileMissing }) {
	const whole = bytesTotal && liveStates.includes(state) ? ` of ${size(bytesTotal)}` : "";
	const texts = [fileMissing ? "file is missing" : state, error?.message, bytesReceived > 0 && size(bytesReceived) + whole, bytesPerSecond > 0 && size(bytesPerSecond) + "/s"];
	return texts.filter(Boolean).join(" · ");
}

function make(tag, part, ...children) {
	const element = document.createElement(tag);
	element.setAttribute("part", part);
	element.append(...children);
	return element;
}

export class PawlDownloads extends HTMLElement {
	static observedAttributes = ["src", "token"];
	#list = make("ul", "list");
	#message = make("p", "message");
	#rows = new Map();
	#pawl = null;
	#watching = null;
	#isDue = false;

	constructor() {
		super();
		this.attachShadow({ mode: "open" }).adoptedStyleSheets = [sheet];
		this.#message.setAttribute("role", "status");
		this.#list.setAttribute("role", "list");
		this.shadowRoot.append(this.#message, this.#list);
	}

	connectedCallback() {
		this.#restart();
	}

	disconnectedCallback() {
		this.#restart();
	}

	attributeChangedCallback(_, before, after) {
		if (before !== after) this.#restart();
	}

	// Follows another service, once all attributes are set.
	#restart() {
		if (this.#isDue) return;
		this.#isDue = true;
		queueMicrotask(() => {
			this.#isDue = false;
			this.#watching?.abort();
			this.#show([]);
			this.#say("");
			if (this.isConnected && this.hasAttribute("src")) this.#attempt(() => this.#start());
		});
	}

	#start() {
		const { signal } = (this.#watching = new AbortController());
		const onStatus = ({ state, error }) => {
			if (!signal.aborted && (error || state === "online")) this.#say(error?.message ?? "");
		};
		this.#pawl = new Pawl(this.getAttribute("src"), { token: this.getAttribute("token"), onStatus });
		this.#pawl.watch((downloads) => this.#show(downloads), { signal });
	}

	#show(downloads) {
		const shown = downloads.filter((download, index) => index < rowLimit || download.segments > 0);
		const rows = new Map(shown.map((download) => [download.id, this.#rows.get(download.id) ?? this.#makeRow(download.id)]));
		for (const [id, row] of this.#rows) if (!rows.has(id)) row.item.remove();
		this.#rows = rows;
		// A moved row would lose the focus.
		shown.forEach((download, index) => {
			const [row, before] = [rows.get(download.id), this.#list.children[index] ?? null];
			if (before !== row.item) this.#list.insertBefore(row.item, before);
			row.show(download);
		});
	}

	#makeRow(id) {
		let download;
		const [name, main, cancel] = [make("span", "name"), make("button", "button"), make("button", "button", "Cancel")];
		const [fill, status] = [make("div", "fill"), make("div", "status")];
		const bar = make("div", "bar", fill);
		bar.setAttribute("role", "progressbar");
		const item = make("li", "row", name, main, cancel, bar, status);
		main.onclick = () => {
			const [label, verb = label.toLowerCase()] = actionOf(download);
			this.#act(verb, id);
		};
		cancel.onclick = () => this.#act("cancel", id);
		const show = (next) => {
			if (next === download) return;
			download = next;
			const [[label = ""], isLive, text] = [actionOf(download), liveStates.includes(download.state), download.track?.name || download.filename || download.url];
			// A hidden button would lose the focus.
			if (!isLive && this.shadowRoot.activeElement === cancel) main.focus();
			[main.hidden, cancel.hidden, bar.hidden] = [!label, !isLive, !isLive];
			name.textContent = text;
			main.textContent = label;
			[main.ariaLabel, cancel.ariaLabel, bar.ariaLabel] = [`${label} ${text}`, `Cancel ${text}`, `Progress of ${text}`];
			bar.ariaValueNow = download.progress === null ? null : Math.round(100 * download.progress);
			fill.style.width = `${100 * (download.progress ?? 0)}%`;
			status.textContent = statusOf(download);
			item.setAttribute("part", `row ${download.state}`);
		};
		return { item, show };
	}

	#act(action, id) {
		const pawl = this.#pawl;
		this.#say("");
		this.#attempt(async () => {
			if (action !== "save") return pawl[action](id);
			const link = document.createElement("a");
			link.href = await pawl.fileURL(id);
			link.download = "";
			link.click();
		});
	}

	async #attempt(action) {
		try {
			await action();
		} catch (error) {
			this.#say(error.message);
		}
	}

	#say(text) {
		this.#message.hidden = !text;
		this.#message.textContent = text;
	}
}

customElements.define("pawl-downloads", PawlDownloads);
