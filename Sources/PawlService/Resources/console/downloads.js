// The list of downloads: filter, order, works, selection and bulk commands.

import { capitalized, isActive, isEligible, nameOf, perform, setAction, showState } from "./actions.js";
import { showDetails } from "./dialogs.js";
import { $, artwork, attempt, isolated, make, say, setText, clone } from "./dom.js";
import { count, counted, sum } from "./format.js";
import { VirtualList } from "./list.js";
import { access, states, store } from "./live.js";

const { compare } = new Intl.Collator(undefined, { numeric: true });
const newest = (a, b) => (a.id < b.id ? 1 : -1);
const by = (member) => (a, b) => b[member] - a[member] || newest(a, b);
const orders = {
	newest,
	oldest: (a, b) => newest(b, a),
	name: (a, b) => compare(nameOf(a), nameOf(b)) || newest(a, b),
	size: by("bytesTotal"),
	progress: by("progress"),
	speed: by("bytesPerSecond"),
	priority: by("priority"),
};

// The ids that match the filter, in order.
let shown = [];
// The downloads of each work with several, by its id.
let works = new Map();
const closed = new Set();
let selection = new Set();
let timer;
const idOf = ({ id }) => id;
const filters = $("filters").elements;
const list = new VirtualList($("list"), makeRow);

for (const state of ["", ...states]) {
	const radio = make("input", { type: "radio", name: "state", value: state });
	radio.checked = !state;
	$("states").append(make("label", {}, radio, capitalized(state || "all") + " ", make("b")));
}
$("sort").append(...Object.keys(orders).map((value) => new Option(capitalized(value), value)));
$("filters").onsubmit = (event) => event.preventDefault();
$("filters").oninput = () => {
	$("scroller").scrollTop = 0;
	selection.clear();
	arrange();
};
$("select-all").onchange = ({ target }) => select(target.checked ? shown : []);
$("bulk").onclick = ({ target: { value } }) => {
	const state = filters.state.value;
	// The service has no such filter: commands go to each download.
	const isNarrowed = selection.size || $("filter").value.trim();
	perform(value, targets(value), !isNarrowed && { ...(state && { state }) });
};
store.addEventListener("change", ({ detail: { changed, hasMoved } }) => {
	list.update(changed);
	list.update(works.keys());
	// These orders change with progress.
	if (hasMoved || ["size", "progress", "speed"].includes($("sort").value)) timer ??= setTimeout(arrange, 100);
});
arrange();

// --- The shown rows

function arrange() {
	clearTimeout(timer);
	timer = undefined;
	const state = filters.state.value;
	const text = $("filter").value.trim().toLowerCase();
	const matches = (download) => (!state || download.state === state) && (!text || textOf(download).includes(text));
	const found = [...store.all.values()].filter(matches).sort(orders[$("sort").value]);
	shown = found.map(idOf);
	selection = selection.intersection(store.all);
	works = Map.groupBy(store.all.values(), workOf);
	for (const [id, { length }] of works) if (!id || length < 2) works.delete(id);
	const rows = [...Map.groupBy(found, headOf)].map(([head, downloads]) => {
		// Parts have the order of the work.
		const ids = closed.has(head) ? [] : downloads.map(idOf).sort();
		return works.has(head) ? [head, ids] : ids;
	});
	list.show(rows.flat(2));
	list.update();
	showCounts();
}

function textOf({ url, folder, filename, labels, track }) {
	return [url, folder, filename, track?.name, track?.artist, track?.collection, ...labels].join("\n").toLowerCase();
}

function showCounts() {
	const { all, total, isLoading } = store;
	const counts = Map.groupBy(all.values(), ({ state }) => state);
	// Changing numbers would move the layout.
	$("states").style.visibility = isLoading ? "hidden" : "";
	for (const { value, parentElement } of filters.state) {
		const number = value ? (counts.get(value)?.length ?? 0) : all.size;
		setText(parentElement.lastChild, count(number));
		parentElement.classList.toggle("none", value && !number);
	}
	const [{ length }, { size }] = [shown, selection];
	const older = isLoading || total <= all.size ? "" : `, the newest of ${count(total)}`;
	setText($("summary"), size ? `${count(size)} of ${count(length)} selected` : counted(length, "download") + older);
	$("select-all").checked = size && size === length;
	$("select-all").indeterminate = size && size < length;
	for (const button of $("bulk").querySelectorAll("button")) {
		const number = targets(button.value).length;
		setText(button, `${capitalized(button.value)} ${count(number)}`);
		button.disabled = !number;
	}
	$("empty").hidden = length > 0 || isLoading;
	setText($("empty"), all.size ? "No download matches the filter." : `No downloads yet.${access.mayChange ? " Search, paste a link, or drop one here." : ""}`);
	const active = [...all.values()].filter(isActive).length;
	document.title = active ? `(${count(active)}) Pawl` : "Pawl";
}

// Shows the downloads with a text in them, or one download as the current row.
export function reveal(text, id) {
	if (id && !store.all.has(id)) return say("This download is no longer in the list.", true);
	filters.state.value = "";
	$("filter").value = text;
	selection.clear();
	if (id) closed.delete(headOf(store.all.get(id)));
	arrange();
	if (!$("list").checkVisibility()) location.hash = "#downloads";
	list.goTo(list.order.indexOf(id));
	$("list").focus({ preventScroll: true });
}

// --- Works and their downloads

// The id of its work, which is a label of all parts.
function workOf({ labels, track }) {
	const id = track?.partOf;
	return /^\w+:\S+$/.test(id) && labels.includes(id) ? id : null;
}

// The id of its row: its work's, or its own.
function headOf(download) {
	const work = workOf(download);
	return works.has(work) ? work : download.id;
}

// A download, or a work with its downloads as `parts`.
function find(id) {
	const parts = works.get(id)?.map(({ id }) => store.all.get(id)).filter(Boolean);
	if (!parts?.length) return store.all.get(id);
	const { collection, artworkUrl } = parts[0].track;
	const numberOf = (state) => parts.filter((part) => part.state === state).length;
	const completed = numberOf("completed");
	const bytesReceived = sum(parts, "bytesReceived");
	const bytesPerSecond = sum(parts, "bytesPerSecond");
	const bytesTotal = parts.some(({ bytesTotal }) => bytesTotal === null) ? null : sum(parts, "bytesTotal");
	const about = [`${count(completed)} of ${count(parts.length)} completed`];
	return {
		id, parts, about, bytesReceived, bytesPerSecond, bytesTotal,
		labels: [id],
		track: { name: collection || id, artworkUrl },
		state: states.find(numberOf),
		progress: bytesTotal ? bytesReceived / bytesTotal : completed / parts.length,
		etaSeconds: bytesTotal && bytesPerSecond ? (bytesTotal - bytesReceived) / bytesPerSecond : null,
		updatedAt: about[0],
	};
}

function act(action, download) {
	const { id, parts } = download;
	if (action === "details") attempt(() => showDetails(download));
	else if (action === "open") open(id);
	else perform(action, parts?.filter((part) => isEligible(action, part)) ?? [download], { label: id });
}

function open(id, opens = closed.has(id)) {
	closed[opens ? "delete" : "add"](id);
	arrange();
}

// --- A row

function makeRow(id) {
	const { element, nodes } = clone("row");
	element.id = id;
	element.role = "row";
	for (const cell of element.children) cell.role = "gridcell";
	nodes.page.remove();
	// Keys act on the current row.
	for (const control of element.querySelectorAll("input, button")) control.tabIndex = -1;
	let drawn;
	const show = () => {
		const download = find(id);
		if (!download) return;
		const { url, track, folder, labels, priority, updatedAt, parts, about } = download;
		element.ariaSelected = nodes.pick.checked = selection.has(id);
		element.ariaLevel = headOf(download) === id ? 1 : 2;
		nodes.pick.hidden = parts;
		element.ariaExpanded = nodes.details.ariaExpanded = parts ? !closed.has(id) : null;
		if (download === drawn) return;
		const name = nameOf(download);
		showState({ element, nodes }, download, name);
		// The rest does not change with progress.
		if (drawn?.updatedAt !== updatedAt) {
			setText(nodes.name, name);
			element.ariaLabel = nodes.name.title = name;
			nodes.pick.ariaLabel = `Select ${name}`;
			const texts = about ?? [track?.artist ?? new URL(url).host, track?.collection, folder, priority && `priority ${count(priority)}`];
			// Names of works and shows tell more than their labels.
			const isPlain = (label) => label !== workOf(download) && !label.startsWith("subscription:");
			const chips = labels.filter(isPlain).map((label) => make("bdi", { class: "label" }, label));
			// The progress of a work comes first.
			nodes.about.replaceChildren(...(about ? [] : chips), ...isolated(texts), ...(about ? chips : []));
			nodes.art.replaceChildren(artwork(track?.artworkUrl));
			setAction(nodes.details, parts ? "open" : "details", name);
		}
		drawn = download;
	};
	show();
	return { element, show };
}

// --- Selection, pointer and keys

const toggle = (id) => select(selection.symmetricDifference(new Set([id])));

function select(ids) {
	selection = new Set(ids);
	list.update();
	showCounts();
}

$("list").onclick = ({ target }) => {
	const download = find(target.closest(".row")?.id);
	if (!download) return;
	list.goTo(list.order.indexOf(download.id));
	$("list").focus({ preventScroll: true });
	const action = target.closest("button")?.dataset.do;
	if (action) act(action, download);
	else if (target.matches("input")) toggle(download.id);
	else if (target.matches(".label")) {
		$("filter").value = target.textContent;
		arrange();
	}
};

$("list").onkeydown = (event) => {
	const { key } = event;
	const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
	const { current, order, rowsPerPage } = list;
	const download = find(current);
	const step = { ArrowDown: 1, ArrowUp: -1, PageDown: rowsPerPage, PageUp: -rowsPerPage, Home: -Infinity, End: Infinity }[key];
	if (!download) return;
	if (step && !hasModifier) list.goTo(order.indexOf(current) + step);
	else if (download.parts && /^( |Enter|Arrow(Left|Right))$/.test(key)) open(current, { ArrowLeft: false, ArrowRight: true }[key]);
	else if (key === "a" && hasModifier) select(shown);
	else if (key === "Escape") select([]);
	else if (key === " ") toggle(current);
	else if (key === "Enter") act("details", download);
	else if (key === "Delete") act(isEligible("cancel", download) ? "cancel" : "remove", download);
	else if (key === "p" && !hasModifier) act(isActive(download) ? "pause" : "resume", download);
	else return;
	event.preventDefault();
};

// The selected downloads, or else all shown ones.
function targets(verb) {
	const ids = selection.size ? [...selection] : shown;
	return ids.map((id) => store.all.get(id)).filter((download) => isEligible(verb, download));
}
