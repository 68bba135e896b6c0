// Search as you type, and the results with the state of their downloads.

import { capitalized, perform, play, setAction, showState } from "./actions.js";
import { call } from "./api.js";
import { $, artwork, attempt, isolated, make, setText, stamp, webAddress } from "./dom.js";
import * as format from "./format.js";
import { store } from "./store.js";

/** Names this page's search: a newer one replaces the older one, at the source too. */
const session = String(Math.random());

let sources = [];
let rows = [];
let timer;
let current;

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
store.addEventListener("change", () => rows.filter((row) => store.of(row.result) !== row.download).forEach(render));

$("source").onchange = () => {
	offerMedia();
	find();
};
attempt(async () => {
	({ sources } = await call("GET", "search/sources"));
	$("source").replaceChildren(...sources.map(({ id, name }) => make("option", { value: id }, name)));
	offerMedia();
});

function offerMedia() {
	const source = sources.find(({ id }) => id === $("source").value);
	const values = source?.parameters.find(({ name }) => name === "media")?.values ?? ["all"];
	const titled = (value) => (value === "all" ? "All media" : capitalized(value.replace(/[A-Z]/g, (letter) => " " + letter.toLowerCase())));
	$("media").replaceChildren(...values.map((value) => make("option", { value }, titled(value))));
	$("media").disabled = values.length === 1;
}

async function find(offset = 0) {
	clearTimeout(timer);
	current?.abort();
	current = new AbortController();
	const term = $("term").value.trim();
	if (!term) return show({ results: [] }, 0, "Type to search.");
	const query = new URLSearchParams({ term, limit: 50, offset, session, source: $("source").value });
	if ($("media").value && !$("media").disabled) query.set("media", $("media").value);
	$("results").ariaBusy = "true";
	try {
		show(await call("GET", "search?" + query, undefined, current.signal), offset);
	} catch (error) {
		if (error.name === "AbortError" || error.code === "search-superseded") return;
		$("results").ariaBusy = "false";
		setText($("search-status"), error.message);
	}
}

function show({ results, attribution }, offset, status) {
	const added = results.map(makeRow);
	if (!offset) {
		rows = [];
		$("results").replaceChildren();
		$("found").scrollTop = 0;
	}
	rows.push(...added);
	$("results").append(...added.map(({ element }) => element));
	if (offset) added[0]?.parts.first.focus();
	$("results").ariaBusy = "false";
	$("more").hidden = results.length < 50;
	setText($("attribution"), (rows.length && attribution) || "");
	setText($("search-status"), status ?? (rows.length ? format.counted(rows.length, "result") : "Nothing found."));
}

function makeRow(result) {
	const row = { ...stamp("row"), result };
	const { element, parts } = row;
	result.name ||= "Untitled";
	const { name, artist, collection, durationMs, downloadUrl, pageUrl } = result;
	element.role = "listitem";
	parts.pick.parentElement.remove();
	parts.details.remove();
	setText(parts.name, name);
	parts.about.append(...isolated([durationMs && format.playingTime(durationMs), artist, collection]));
	const page = webAddress(pageUrl);
	parts.store.hidden = !page;
	parts.store.href = page;
	parts.store.ariaLabel = `View ${name} in store`;
	const media = /\.(?:(mp4|m4v|mov)|m4a|mp3|aac|wav|ogg)(?:\?|$)/i.exec(downloadUrl);
	const isVideo = Boolean(media?.[1]);
	setAction(parts.preview, media && "preview", name);
	parts.art.prepend(artwork(result.artworkUrl));
	const work = {
		preview: () => play(name, isVideo, downloadUrl),
		download: () => attempt(async () => store.put(await call("POST", "downloads", { url: downloadUrl, track: result }))),
	};
	element.onclick = ({ target }) => {
		const action = target.closest("button")?.dataset.do;
		if (work[action]) work[action]();
		else if (action) perform(action, row.download);
	};
	render(row);
	return row;
}

function render(row) {
	row.download = store.of(row.result);
	showState(row, row.download, row.result.name);
	if (!row.result.downloadUrl) row.parts.first.hidden = true;
}
