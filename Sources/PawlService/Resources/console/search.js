// Search, the results with the state of their downloads, and the parts of works.

import { capitalized, perform, play, setAction, showState } from "./actions.js";
import { $, artwork, attempt, isolated, make, setText, clone, webAddress } from "./dom.js";
import { count, counted, joined, playingTime, sizeOf, sum } from "./format.js";
import { call, search, store } from "./live.js";
import { subscribe } from "./subscriptions.js";

// Terms with results.
const examples = { itunes: "prelude", archive: "soundings" };

let sources = [];
let rows = [];
let timer;

$("search-form").onsubmit = (event) => {
	event.preventDefault();
	find();
};
$("term").oninput = () => {
	clearTimeout(timer);
	timer = setTimeout(find, 300);
};
$("media").onchange = () => find();
$("more").onclick = () => find(rows.length);
$("subscribe-search").onclick = () => attempt(() => subscribe({ source: { search: { source: "archive", term: $("term").value.trim() } } }));
store.addEventListener("change", () => {
	for (const row of rows.flatMap((row) => [row, ...row.parts])) if (store.of(row.result) !== row.download) render(row);
});

$("source").onchange = () => {
	offerMedia();
	find();
};
attempt(async () => {
	({ sources } = await call("GET", "search/sources"));
	$("source").replaceChildren(...sources.map(({ id, name }) => new Option(name, id)));
	offerMedia();
	if (!$("term").value) find();
});

function offerMedia() {
	const source = sources.find(({ id }) => id === $("source").value);
	const values = source?.parameters.find(({ name }) => name === "media")?.values ?? ["all"];
	const titled = (value) => (value === "all" ? "All media" : capitalized(value.replace(/[A-Z]/g, " $&").toLowerCase()));
	$("media").replaceChildren(...values.map((value) => new Option(titled(value), value)));
	$("media").disabled = values.length === 1;
}

async function find(offset = 0) {
	clearTimeout(timer);
	const term = $("term").value.trim();
	$("subscribe-search").hidden = !term || $("source").value !== "archive";
	if (!term) return show({ results: [] }, 0, hint("Type to search"));
	// A newer search of this page replaces the older one, in the service too. Feeds have no pages.
	const query = { limit: 50, session: "console", source: $("source").value, offset: offset || null, media: $("media").disabled ? null : $("media").value };
	$("results").ariaBusy = "true";
	try {
		const found = await search(term, query);
		if ($("term").value.trim() === term) show(found, offset);
	} catch (error) {
		if (error.code === "search-superseded") return;
		$("results").ariaBusy = "false";
		setText($("search-status"), error.message);
	}
}

function show({ results, attribution }, offset, status) {
	const added = results.map((result) => makeRow(result));
	if (!offset) {
		rows = [];
		$("results").replaceChildren();
		$("found").scrollTop = 0;
	}
	rows.push(...added);
	$("results").append(...added.map(({ element }) => element));
	if (offset) added[0]?.element.querySelector(".do button:not([hidden])")?.focus();
	$("results").ariaBusy = "false";
	$("more").hidden = results.length < 50;
	setText($("attribution"), rows.length ? attribution : "");
	setText($("search-status"), status ?? (rows.length ? counted(rows.length, "result") : hint("Nothing found")));
}

const hint = (text) => text + (examples[$("source").value] ? `. Try “${examples[$("source").value]}”.` : ".");

function makeRow(result, isPart) {
	const row = { ...clone("row"), result, parts: [] };
	const { element, nodes } = row;
	result.name ||= "Untitled";
	const { id, name, artist, collection, durationMs, bytes, downloadUrl, pageUrl, number, partCount, partOf } = result;
	element.role = "listitem";
	nodes.pick.parentElement.remove();
	setText(nodes.name, isPart && number ? `${number}. ${name}` : name);
	const size = [durationMs && playingTime(durationMs), bytes && sizeOf(bytes), partCount && counted(partCount, "part")];
	nodes.about.append(...isolated([...size, result.format, artist, collection]));
	const page = webAddress(!isPart && pageUrl);
	Object.assign(nodes.page, { hidden: !page, href: page, ariaLabel: `View page of ${name}` });
	const media = /\.(?:(mp4|m4v|mov)|m4a|mp3|aac|wav|ogg)(?:\?|$)/i.exec(downloadUrl);
	setAction(nodes.preview, media && "preview", name);
	setAction(nodes.details, result.links.parts && "open", name);
	nodes.details.ariaExpanded = false;
	nodes.art.prepend(artwork(result.artworkUrl));
	// A part has its work as label; a result is stored as track.
	const order = isPart ? { trackId: id, labels: [partOf] } : { url: downloadUrl, track: result };
	const actions = {
		preview: () => play(name, Boolean(media[1]), { src: downloadUrl }),
		download: () => attempt(() => call("POST", "downloads", order)),
		subscribe: () => attempt(() => subscribe({ source: { partsOf: id } })),
		open: () => toggle(row),
	};
	element.onclick = (event) => {
		// A part is inside its work.
		event.stopPropagation();
		const action = event.target.closest("button")?.dataset.do;
		if (actions[action]) actions[action]();
		else perform(action, [row.download]);
	};
	render(row);
	return row;
}

function render(row) {
	row.download = store.of(row.result);
	showState(row, row.download, row.result.name);
	const { id, downloadUrl, name, links } = row.result;
	if (!downloadUrl) setAction(row.nodes.first, (links.feed || id.startsWith("feed:")) && "subscribe", name);
}

// --- The parts of a work

function toggle(row) {
	const { work, result: { id, name, links } } = row;
	row.nodes.details.ariaExpanded = !work;
	row.parts = [];
	row.work = null;
	if (work) return work.remove();
	const status = make("p", { class: "soft", role: "status" }, "Loading…");
	const formats = make("select", { "aria-label": `Format of ${name}`, hidden: "" });
	const all = make("button", { class: "primary", "aria-label": `Download all of ${name}`, "data-do": "all" }, "Download all");
	const list = make("div", { role: "list", "aria-label": `Parts of ${name}` });
	row.work = make("div", { class: "work" }, status, formats, all, list);
	row.element.append(row.work);
	formats.onchange = async () => {
		const { value } = formats;
		try {
			const found = await call("GET", links.parts + (value && `&format=${encodeURIComponent(value)}`));
			// The user may have chosen another format.
			if (formats.value !== value) return;
			if (formats.hidden) {
				const options = found.formats.map(({ name, count, bytes }) => new Option(joined(name, counted(count, "file"), bytes && sizeOf(bytes)), name));
				formats.append(new Option("Suggested formats", ""), ...options);
				formats.hidden = !options.length;
			}
			row.parts = found.results.map((part) => makeRow(part, true));
			list.replaceChildren(...row.parts.map(({ element }) => element));
			const bytes = sum(found.results, "bytes");
			setText(status, joined(`${count(found.count)} of ${counted(found.total, "part")}`, bytes && sizeOf(bytes)));
		} catch (error) {
			setText(status, error.message);
		}
	};
	formats.onchange();
	all.onclick = () =>
		attempt(async () => {
			const { items, warnings } = await call("POST", "downloads/batch", { partsOf: id, formats: formats.value ? [formats.value] : null });
			const groups = Object.groupBy(items, ({ status }) => ({ 200: "existing", 201: "added" })[status] ?? "refused");
			const counts = Object.entries(groups).map(([word, { length }]) => `${count(length)} ${word}`);
			setText(status, joined(...counts, groups.refused?.[0].problem.detail, ...warnings));
		});
}
