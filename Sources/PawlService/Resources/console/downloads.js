// The list of downloads: filter, order, selection, and what can be done with many at once.

import { capitalized, isActive, nameOf, perform, performOnMany, setAction, showState } from "./actions.js";
import { access, call } from "./api.js";
import { showDetails } from "./dialogs.js";
import { $, artwork, ask, attempt, isolated, make, say, setText, stamp } from "./dom.js";
import * as format from "./format.js";
import { VirtualList } from "./list.js";
import { activeStates, states, store } from "./store.js";

const { compare } = new Intl.Collator(undefined, { numeric: true });
const newest = (a, b) => (a.id < b.id ? 1 : -1);
const most = (value) => (a, b) => value(b) - value(a) || newest(a, b);
const orders = {
	newest,
	oldest: (a, b) => newest(b, a),
	name: (a, b) => compare(nameOf(a), nameOf(b)) || newest(a, b),
	size: most(({ bytesTotal, bytesReceived }) => bytesTotal ?? bytesReceived),
	progress: most(({ progress }) => progress ?? 0),
	speed: most(({ bytesPerSecond }) => bytesPerSecond),
	priority: most(({ priority }) => priority),
};

/** The states that commands for many are meant for. */
const eligible = {
	pause: activeStates,
	resume: ["paused"],
	retry: ["failed"],
	cancel: [...activeStates, "paused"],
	clear: ["failed", "completed", "cancelled"],
};

let selection = new Set();
let timer;
const list = new VirtualList($("list"), makeRow);

for (const state of ["", ...states]) {
	const radio = make("input", { type: "radio", name: "state", value: state });
	radio.checked = !state;
	$("states").append(make("label", {}, radio, capitalized(state || "all") + " ", make("b")));
}
$("sort").append(...Object.keys(orders).map((value) => make("option", { value }, capitalized(value))));
$("filters").onsubmit = (event) => event.preventDefault();
$("filters").oninput = () => {
	$("scroller").scrollTop = 0;
	selection.clear();
	arrange();
};
$("select-all").onchange = ({ target }) => select(target.checked ? list.order : []);
$("bulk").onclick = ({ target }) => attempt(() => performOnShown(target.value));
store.addEventListener("change", ({ detail: { changed, hasMoved } }) => {
	list.update(changed);
	// These orders change with progress.
	if (hasMoved || ["size", "progress", "speed"].includes($("sort").value)) timer ??= setTimeout(arrange, 100);
});
arrange();

// --- What is shown

function arrange() {
	clearTimeout(timer);
	timer = undefined;
	const state = $("filters").elements.state.value;
	const text = $("filter").value.trim().toLowerCase();
	const matches = (download) => (!state || download.state === state) && (!text || textOf(download).includes(text));
	const shown = [...store.all.values()].filter(matches).sort(orders[$("sort").value]);
	selection = selection.intersection(store.all);
	list.show(shown.map(({ id }) => id));
	showCounts();
}

function textOf({ url, folder, filename, labels, track }) {
	return [url, folder, filename, track?.name, track?.artist, track?.collection, ...labels].join("\n").toLowerCase();
}

function showCounts() {
	const { all, total, isLoading } = store;
	const counts = Object.fromEntries(states.map((state) => [state, 0]));
	for (const { state } of all.values()) counts[state] += 1;
	// Until then the numbers would make everything jump.
	$("states").style.visibility = isLoading ? "hidden" : "";
	for (const { value, parentElement } of $("filters").elements.state) setText(parentElement.lastChild, format.count(counts[value] ?? all.size));
	const [shown, selected] = [list.order.length, selection.size];
	const older = isLoading || total <= all.size ? "" : `, the newest of ${format.count(total)}`;
	setText($("summary"), selected ? `${format.count(selected)} of ${format.count(shown)} selected` : format.counted(shown, "download") + older);
	$("select-all").checked = selected > 0 && selected === shown;
	$("select-all").indeterminate = selected > 0 && selected < shown;
	for (const button of $("bulk").querySelectorAll("button")) {
		const number = targets(button.value).length;
		setText(button, `${capitalized(button.value)} ${format.count(number)}`);
		button.disabled = !number;
	}
	$("empty").hidden = shown > 0 || isLoading;
	setText($("empty"), all.size ? "No download matches the filter." : `Nothing here yet.${access.mayChange ? " Search, paste a link, or drop one here." : ""}`);
	const active = [...all.values()].filter(isActive).length;
	document.title = active ? `(${format.count(active)}) Pawl` : "Pawl";
}

// --- A row

function makeRow(id) {
	const { element, parts } = stamp("row");
	element.id = id;
	element.role = "row";
	for (const cell of element.children) cell.role = "gridcell";
	parts.store.remove();
	// Keys act on the current row.
	for (const control of element.querySelectorAll("input, button")) control.tabIndex = -1;
	let drawn;
	const show = () => {
		element.ariaSelected = parts.pick.checked = selection.has(id);
		const download = store.all.get(id);
		if (!download || download === drawn) return;
		const { url, track, folder, labels, priority, updatedAt } = download;
		const name = nameOf(download);
		showState({ element, parts }, download, name);
		// The rest does not change with progress.
		if (drawn?.updatedAt !== updatedAt) {
			setText(parts.name, name);
			element.ariaLabel = parts.name.title = name;
			parts.pick.ariaLabel = `Select ${name}`;
			const texts = [track?.artist ?? new URL(url).host, track?.collection, folder, priority && `priority ${format.count(priority)}`];
			parts.about.replaceChildren(...labels.map((label) => make("bdi", { class: "label" }, label)), ...isolated(texts));
			parts.art.replaceChildren(artwork(track?.artworkUrl));
			setAction(parts.details, "details", name);
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
	const download = store.all.get(target.closest(".row")?.id);
	if (!download) return;
	list.goTo(list.order.indexOf(download.id));
	$("list").focus({ preventScroll: true });
	const action = target.closest("button")?.dataset.do;
	if (action === "details") showDetails(download);
	else if (action) perform(action, download);
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
	const download = store.all.get(current);
	const step = { ArrowDown: 1, ArrowUp: -1, PageDown: rowsPerPage, PageUp: -rowsPerPage, Home: -Infinity, End: Infinity }[key];
	if (!download) return;
	if (step && !hasModifier) list.goTo(order.indexOf(current) + step);
	else if (key === "a" && hasModifier) select(order);
	else if (key === "Escape") select([]);
	else if (key === " ") toggle(current);
	else if (key === "Enter") showDetails(download);
	else if (key === "Delete") perform(eligible.cancel.includes(download.state) ? "cancel" : "remove", download);
	else if (key === "p" && !hasModifier) perform(isActive(download) ? "pause" : "resume", download);
	else return;
	event.preventDefault();
};

// --- Many at once

/** The selection if there is one, and all that is shown if not. */
function targets(verb) {
	const ids = selection.size ? [...selection] : list.order;
	return ids.map((id) => store.all.get(id)).filter((download) => eligible[verb].includes(download?.state));
}

async function performOnShown(verb) {
	if (!verb) return;
	const downloads = targets(verb);
	const number = format.counted(downloads.length, "download");
	let choice;
	if (verb === "cancel") choice = await ask(`Cancel ${number}?`, "What has arrived is deleted.", "Cancel them");
	if (verb === "clear") choice = await ask(`Clear ${number}?`, "They are taken off the list.", "Clear", true);
	if (choice === null) return;
	if (["clear", "retry"].includes(verb) || selection.size || $("filter").value.trim()) return performOnMany(downloads, verb, choice?.deletesFiles);
	// What its filter can tell, the service does at once, and also to those that are not loaded here.
	const query = new URLSearchParams([...new Set(downloads.map(({ state }) => state))].map((state) => ["state", state]));
	const { changed } = await call("POST", `downloads/${verb}?${query}`);
	say(`${format.count(changed)} changed.`);
}
