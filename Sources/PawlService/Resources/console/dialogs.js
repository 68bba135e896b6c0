// The dialogs: all about one download, adding by address, settings, and the token.

import { actionsOf, nameOf, perform, setAction, statusOf } from "./actions.js";
import { access, call, send } from "./api.js";
import { $, attempt, make, say, setText, stamp, wireDialog } from "./dom.js";
import * as format from "./format.js";
import { store } from "./store.js";

/** What the fields that details and adding share say, as members of a request. */
const settingsIn = ({ folder, labels, priority, speedLimit }) => ({
	// A finished file stays where it is.
	folder: folder.disabled ? null : folder.value.trim(),
	labels: labels.value.split(",").map((label) => label.trim()).filter(Boolean),
	priority: Number(priority.value),
	speedLimit: Math.round(speedLimit.value * 1e6),
});

// --- Details

let shown;
/** Of the finished file. */
let head;
let drawnFacts;
$("facts").after(stamp("choices").element);
const details = wireDialog("details", "Save changes", "Close", async () => {
	store.put(await call("PATCH", shown.links.self, settingsIn(details.fields)));
});

store.addEventListener("change", ({ detail }) => {
	if (!details.dialog.open || !detail.changed.has(shown.id)) return;
	if (store.all.has(shown.id)) showFacts(store.all.get(shown.id));
	else details.dialog.close();
});
$("details-actions").onclick = ({ target }) => perform(target.closest("button")?.dataset.do, shown);

export async function showDetails(download) {
	const { folder, labels, priority, speedLimit } = details.fields;
	folder.value = download.folder;
	labels.value = download.labels.join(", ");
	priority.value = download.priority;
	speedLimit.value = download.speedLimit / 1e6 || "";
	head = null;
	showFacts(download);
	details.open();
	if (download.state !== "completed") return;
	const response = await send(download.links.file, { method: "HEAD" });
	if (shown.id !== download.id || !response.ok) return;
	head = response.headers;
	showFacts(shown);
}

function showFacts(download) {
	shown = download;
	const { error, state } = download;
	const name = nameOf(download);
	details.fields.folder.disabled = state === "completed";
	setText($("details-title").firstChild, name);
	setText($("details-state"), statusOf({ ...download, error: null }));
	setText($("details-error"), error ? `${error.message} (${error.code})` : "");
	drawRanges(download);
	const actions = new Set([...actionsOf(download), state === "completed" && "remove"]);
	[...$("details-actions").children].forEach((button, index) => setAction(button, [...actions][index], name));
	const facts = factsOf(download).filter(([, value]) => value);
	// What is selected to be copied stays so.
	if (facts.join() === drawnFacts) return;
	drawnFacts = facts.join();
	$("facts").replaceChildren(...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", { dir: "auto" }, value)]));
}

/** A bar that fills where the bytes are: over several connections, in several places. */
function drawRanges({ state, bytesReceived, bytesTotal, receivedRanges }) {
	const bar = $("ranges");
	const share = (bytes) => `${(100 * bytes) / (bytesTotal ?? Infinity)}%`;
	const pieces = receivedRanges.map(({ start, end }) => {
		const piece = make("i");
		Object.assign(piece.style, { insetInlineStart: share(start), width: share(end - start) });
		return piece;
	});
	bar.replaceChildren(...pieces);
	bar.parentElement.dataset.state = state;
	const places = receivedRanges.length > 1 ? `, in ${format.count(receivedRanges.length)} places` : "";
	bar.ariaValueNow = bytesTotal ? Math.round((100 * bytesReceived) / bytesTotal) : null;
	bar.ariaLabel = `${format.part(bytesReceived, bytesTotal)} received${places}`;
}

function factsOf(download) {
	const { url, track, bytesTotal, mediaType, resumable, segments, attempts, checksum, sha256 } = download;
	const { createdAt, startedAt, completedAt, expiresAt } = download;
	const headers = ["Content-Type", "ETag", "Last-Modified", "Content-Disposition"];
	return [
		["Address", url],
		["Track", [track?.artist, track?.collection].filter(Boolean).join(" · ")],
		["Length", bytesTotal !== null && `${format.count(bytesTotal)} bytes`],
		["Media type", mediaType],
		["Can resume", { true: "yes", false: "no" }[resumable]],
		["Connections", segments],
		["Attempts", attempts],
		["Expected", checksum],
		["SHA-256", sha256],
		["Added", format.moment(createdAt)],
		["Started", format.moment(startedAt)],
		["Completed", format.moment(completedAt)],
		["Expires", format.moment(expiresAt)],
		...headers.map((name) => [name, head?.get(name)]),
	];
}

// --- Adding: typed, pasted or dropped, one address or a list

$("add-options").after(stamp("choices").element);
const add = wireDialog("add", "Download", "Close", async () => {
	const { links, paused, checksum, headers } = add.fields;
	const addresses = links.value.split(/\s+/).filter(Boolean);
	const request = { ...settingsIn(add.fields), paused: paused.checked, headers: headersIn(headers.value) };
	if (checksum.value) request.checksum = checksum.value.trim().replace(/^(?=\w+$)/, "sha-256:");
	const refused = [];
	// The service takes more in a request, but not more than 1 MiB.
	for (let start = 0; start < addresses.length; start += 250) {
		const batch = addresses.slice(start, start + 250);
		const { items } = await call("POST", "downloads/batch", { downloads: batch.map((url) => ({ ...request, url })) });
		items.forEach(({ download, problem }, index) => {
			if (download) store.put(download);
			else refused.push([batch[index], problem.detail]);
		});
	}
	const added = addresses.length - refused.length;
	if (added) say(`${format.counted(added, "download")} added.`);
	// What is meant for these files must not go along with the next.
	if (!refused.length) add.form.reset();
	links.value = refused.map(([link]) => link).join("\n");
	add.complaint.append(...refused.slice(0, 20).flatMap(([link, reason]) => [make("bdi", {}, link), `: ${reason}`, make("br")]));
	return refused.length === 0;
});

/** `Referer: https://…`, one to a line. Throws what is none. */
function headersIn(text) {
	const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
	return Object.fromEntries(new Headers(lines.map((line) => line.split(/:(.*)/, 2))));
}

function showAdding(text) {
	if (!access.mayChange) return;
	const links = new Set(text.match(/\bhttps?:\/\/[^\s<>"']+/gi));
	if (text && !links.size) return;
	if (text) add.fields.links.value = [...links].join("\n");
	add.open();
	add.fields.links.focus();
}

$("open-add").onclick = () => showAdding("");
addEventListener("paste", ({ target, clipboardData }) => {
	if (!target.closest?.("input, textarea, dialog")) showAdding(clipboardData.getData("text"));
});
for (const name of ["dragover", "drop"]) {
	addEventListener(name, async (event) => {
		if (document.querySelector("dialog[open]")) return;
		event.preventDefault();
		if (name === "dragover") return access.mayChange && say("Drop links to download them.");
		const transfer = event.dataTransfer;
		const files = [...transfer.files].filter(({ size }) => size < 1e6).map((file) => file.text());
		const texts = [transfer.getData("text/uri-list") || transfer.getData("text"), ...(await Promise.all(files))];
		showAdding(texts.join("\n"));
	});
}

// --- Settings: limits that hold at once, and are kept

const names = ["maxConcurrent", "maxPerHost", "segments"];

const settings = wireDialog("settings", "Save settings", "Close", async () => {
	const { fields } = settings;
	const change = Object.fromEntries(names.map((name) => [name, Number(fields[name].value)]));
	const speedSchedule = fields.speedSchedule.value.split("\n").filter((line) => line.trim());
	await call("PATCH", "settings", { ...change, speedLimit: Math.round(fields.speedLimit.value * 1e6), speedSchedule });
	say("Settings saved.");
});

async function showSettings() {
	const values = await call("GET", "settings");
	for (const name of names) settings.fields[name].value = values[name];
	settings.fields.speedLimit.value = values.speedLimit / 1e6 || "";
	settings.fields.speedSchedule.value = values.speedSchedule.join("\n");
	$("forget").hidden = !access.hasToken();
	settings.open();
}

$("open-settings").onclick = () => attempt(showSettings);
$("forget").onclick = () => {
	access.forget();
	location.reload();
};

// --- The token

let give;
const token = wireDialog("token", "Continue", "", () => give(token.fields.token.value.trim()));
// There is nothing to see without it.
token.close.remove();
token.dialog.oncancel = (event) => event.preventDefault();

access.prompt = (isWrong) => {
	token.open();
	token.form.reset();
	if (isWrong) setText(token.complaint, "That is not the token.");
	return new Promise((resolve) => (give = resolve));
};
