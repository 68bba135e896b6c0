// The subscriptions: adding, their list, commands, settings, and OPML in and out.

import { capitalized, setAction } from "./actions.js";
import { entriesOf, limitOf, settingsIn } from "./dialogs.js";
import { $, ask, attempt, clone, make, place, say, setText, wireDialog } from "./dom.js";
import { reveal } from "./downloads.js";
import { count, counted, distance, joined } from "./format.js";
import { makeItems } from "./items.js";
import { access, call, send, store } from "./live.js";

const all = new Map();
const rows = new Map();

// Each stream of events begins with all subscriptions.
store.addEventListener("subscriptions", ({ detail }) => {
	all.clear();
	for (const subscription of detail) all.set(subscription.id, subscription);
	draw();
});
store.addEventListener("subscription", ({ detail }) => put(detail));
store.addEventListener("subscription-removed", ({ detail }) => drop(detail.id));
addEventListener("hashchange", update);
setInterval(update, 10_000);

// Keeps the relative times current.
function update() {
	if (document.hidden || !$("subscriptions").checkVisibility()) return;
	for (const row of rows.values()) row.show();
}

function put(subscription) {
	const before = all.get(subscription.id);
	// A response may come after later events.
	if (before && (before.updatedAt > subscription.updatedAt || before.checkedAt > (subscription.checkedAt ?? ""))) return;
	all.set(subscription.id, subscription);
	if (rows.has(subscription.id)) rows.get(subscription.id).show();
	else draw();
}

function drop(id) {
	all.delete(id);
	draw();
}

function draw() {
	const ids = [...all.keys()].sort().reverse();
	for (const id of rows.keys()) if (!all.has(id)) rows.delete(id);
	for (const id of ids) {
		if (rows.has(id)) rows.get(id).show();
		else rows.set(id, makeRow(id));
	}
	place($("subscription-list"), ids.map((id) => rows.get(id).element));
	setText($("subscriptions-status"), counted(ids.length, "subscription"));
	$("no-subscriptions").hidden = ids.length > 0;
	setText($("no-subscriptions"), `No subscriptions yet.${access.mayChange ? " Give the address of a feed, or subscribe to a podcast in the search results." : ""}`);
}

// --- Adding

// Subscribes to a source of a request.
export async function subscribe(request) {
	// Its event may come before the response.
	const known = new Set(all.keys());
	const subscription = await call("POST", "subscriptions", request);
	say(`${known.has(subscription.id) ? "Already subscribed" : "Subscribed"} to ${subscription.name}.`);
	put(subscription);
}

function note(text, isError) {
	setText($("subscribe-note"), text);
	$("subscribe-note").className = isError ? "error" : "soft";
}

$("subscribe").onsubmit = async (event) => {
	event.preventDefault();
	note("");
	try {
		await subscribe({ feedUrl: $("address").value.trim() });
		$("subscribe").reset();
	} catch (error) {
		note(error.message, true);
	}
};

// --- A row

// The source in words; empty if the name is its address.
function sourceOf({ name, source: { partsOf, search } }) {
	const source = search ? `Search of the Internet Archive for “${search.term}”` : partsOf.replace(/^feed:/, "");
	return source === name ? "" : source;
}

const statusOf = ({ state, items }) => joined(capitalized(state), `${count(items.taken)} taken`, items.new && `${count(items.new)} new`);

function checksOf({ checkedAt, nextCheckAt }) {
	const next = nextCheckAt && (Date.parse(nextCheckAt) > Date.now() ? `next in ${distance(nextCheckAt)}` : "next check is due");
	return joined(checkedAt ? `Checked ${distance(checkedAt)} ago` : "Not checked yet", next);
}

function makeRow(id) {
	const { element, nodes } = clone("row");
	for (const node of [nodes.pick.parentElement, nodes.art, nodes.page, nodes.bar]) node.remove();
	const checks = make("p", { class: "soft" });
	const error = make("p", { class: "error" });
	const warnings = make("p", { class: "soft" });
	nodes.what.append(checks, error, warnings);
	element.role = "listitem";
	let drawn;
	const show = () => {
		const subscription = all.get(id);
		const { name, state, failures } = subscription;
		setText(checks, checksOf(subscription));
		if (subscription === drawn) return;
		const source = sourceOf(subscription);
		element.dataset.state = state;
		setText(nodes.status, statusOf(subscription));
		setText(nodes.name, name);
		nodes.name.title = name;
		setText(nodes.about, source);
		nodes.about.title = source;
		setText(error, joined(subscription.error?.message, failures > 1 && `${count(failures)} failures in a row`));
		setText(warnings, subscription.warnings.map((warning) => `Warning: ${warning}`).join(" · "));
		setAction(nodes.first, "refresh", name);
		setAction(nodes.second, state === "active" ? "pause" : "resume", name);
		setAction(nodes.details, "open", name);
		row.items?.show(subscription, drawn);
		drawn = subscription;
	};
	const row = { element, show, items: null };
	nodes.details.ariaExpanded = false;
	element.onclick = ({ target }) => {
		const button = target.closest("button");
		if (button?.dataset.do === "open") {
			row.items?.element.remove();
			row.items = row.items ? null : makeItems(all.get(id));
			if (row.items) element.append(row.items.element);
			nodes.details.ariaExpanded = Boolean(row.items);
		} else if (button) attempt(() => commands[button.dataset.do](all.get(id), button));
	};
	show();
	return row;
}

store.addEventListener("change", ({ detail: { changed } }) => {
	for (const { items } of rows.values()) items?.update(changed);
});

// --- Commands

const command = (verb) => async ({ links }) => put(await call("POST", `${links.self}/${verb}`));

const commands = {
	pause: command("pause"),
	resume: command("resume"),
	async refresh(before, button) {
		button.ariaBusy = "true";
		try {
			const after = await call("POST", `${before.links.self}/refresh`);
			put(after);
			const { name, error, checkedAt } = after;
			if (checkedAt === before.checkedAt) say(`The check of ${name} goes on.`);
			else say(joined(`Checked ${name}`, error?.message), error);
		} finally {
			button.ariaBusy = null;
		}
	},
	settings: (subscription) => showSettings(subscription),
	downloads: ({ id }) => reveal(`subscription:${id}`),
	async remove({ id, name, links }) {
		const choice = await ask(`Remove ${name}?`, "Nothing new is downloaded from it. Its downloads and files stay.", "Remove", "Also remove its downloads and files");
		if (!choice) return;
		// Its event may remove the row before the response.
		const { nextElementSibling, previousElementSibling } = rows.get(id)?.element ?? {};
		await call("DELETE", links.self + (choice.deletesFiles ? "?deleteDownloads=true&deleteFiles=true" : ""));
		drop(id);
		((nextElementSibling ?? previousElementSibling)?.querySelector("[data-do=open]") ?? $("address")).focus();
	},
};

// --- Settings

let shown;
// The values of the fields when they were filled: changed ones are sent only.
let filled;
const settings = wireDialog("subscription", "Save settings", "Close", async () => {
	const values = Object.entries(valuesIn(settings.fields)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(filled[name]));
	const { paused, ...changes } = Object.fromEntries(values);
	if (Object.keys(changes).length) put(await call("PATCH", shown.links.self, changes));
	if (paused !== undefined) await commands[paused ? "pause" : "resume"](shown);
});
settings.fields.paused.parentElement.before(clone("choices").element);
settings.fields.folder.placeholder = "that of the work";
settings.fields.take.onchange = offerLatest;

function offerLatest() {
	const { take, latest } = settings.fields;
	latest.disabled = latest.parentElement.hidden = take.value !== "latest";
}

const lines = (field) => entriesOf(field.value, "\n");

function valuesIn(fields) {
	const { every, unit, take, latest, keep, include, exclude, namingFolder, namingFile, paused } = fields;
	const common = settingsIn(fields);
	const naming = { folder: namingFolder.value.trim() || null, file: namingFile.value.trim() || null };
	return {
		every: Math.round(every.value * unit.value),
		take: take.value === "latest" ? { latest: Number(latest.value) } : take.value,
		keep: keep.value ? Number(keep.value) : null,
		include: lines(include),
		exclude: lines(exclude),
		naming: naming.folder || naming.file ? naming : null,
		...common,
		folder: common.folder || null,
		paused: paused.checked,
	};
}

function showSettings(subscription) {
	shown = subscription;
	const { name, every, take, keep, include, exclude, naming, folder, labels, priority, speedLimit, state } = subscription;
	const unit = [86_400, 3600].find((seconds) => every % seconds === 0) ?? 60;
	setText($("subscription-title").firstChild, name);
	setText($("subscription-source"), sourceOf(subscription));
	settings.fields.paused.checked = state === "paused";
	settings.open({
		unit, keep, folder, priority,
		every: every / unit,
		take: take.latest ? "latest" : take,
		latest: take.latest ?? 5,
		include: include.join("\n"),
		exclude: exclude.join("\n"),
		namingFolder: naming?.folder ?? "",
		namingFile: naming?.file ?? "",
		labels: labels.join(", "),
		speedLimit: limitOf(speedLimit),
	});
	offerLatest();
	filled = valuesIn(settings.fields);
}

// --- OPML, the format for lists of feeds

$("export").onclick = () =>
	attempt(async () => {
		const response = await send("subscriptions/export");
		const href = URL.createObjectURL(await response.blob());
		make("a", { href, download: "subscriptions.opml" }).click();
		setTimeout(() => URL.revokeObjectURL(href), 60_000);
	});

$("import").onclick = () => $("opml-file").click();
$("opml-file").onchange = async ({ target }) => {
	const [body] = target.files;
	note("Importing…");
	try {
		const response = await send("subscriptions/import", { method: "POST", body, headers: { "Content-Type": "text/x-opml" } });
		const { items } = await response.json();
		const { added, existing, refused } = Object.groupBy(items, ({ status }) => ({ 200: "existing", 201: "added" })[status] ?? "refused");
		const counts = [added && `${count(added.length)} added`, existing && `${count(existing.length)} already there`, refused && `${count(refused.length)} refused: ${refused[0].problem.detail}`];
		note(counts.filter(Boolean).join(", ") || "The file has no feeds.", Boolean(refused));
	} catch (error) {
		note(error.message, true);
	}
	// The same file can be chosen again.
	target.value = "";
};
