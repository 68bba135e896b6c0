// The dialogs: details of a download, adding links, settings, and the token.

import { actionsOf, capitalized, nameOf, perform, setAction, statusOf } from "./actions.js";
import { $, attempt, make, say, setText, clone, wireDialog } from "./dom.js";
import { count, counted, inWords, joined, moment, part } from "./format.js";
import { access, call, send, store } from "./live.js";

export const entriesOf = (text, separator) => text.split(separator).map((entry) => entry.trim()).filter(Boolean);

// The values of the fields in the template.
export const settingsIn = ({ folder, labels, priority, speedLimit }) => ({
	// Finished files are not moved.
	folder: folder.disabled ? null : folder.value.trim(),
	labels: entriesOf(labels.value, ","),
	priority: Number(priority.value),
	speedLimit: limitIn(speedLimit),
});

// A limit in MiB/s, as a field has it.
const limitIn = ({ value }) => Math.round(value * 2 ** 20);
export const limitOf = (bytes) => bytes / 2 ** 20 || "";

// --- Details

let shown;
// The header fields of the finished file.
let head;
let drawnFacts;
$("facts").after(clone("choices").element);
const details = wireDialog("details", "Save changes", "Close", async () => {
	const { url } = details.fields;
	const isMoved = url.value.trim() !== shown.url;
	const { id, state } = await call("PATCH", shown.links.self, { ...settingsIn(details.fields), ...(isMoved && { url: url.value.trim() }) });
	// With a fresh address, it can go on.
	if (isMoved && state === "failed") await call("POST", `downloads/${id}/resume`);
});

store.addEventListener("change", ({ detail }) => {
	if (!details.dialog.open || !detail.changed.has(shown.id)) return;
	if (store.all.has(shown.id)) showFacts(store.all.get(shown.id));
	else details.dialog.close();
});
$("details-actions").onclick = async ({ target }) => {
	await perform(target.closest("button")?.dataset.do, [shown]);
	if (details.dialog.open && store.all.has(shown.id)) attempt(showRecord);
};

// A change of the position alone sends no event.
async function showRecord() {
	const download = await call("GET", shown.links.self);
	if (shown.id === download.id) showFacts(download);
}

export async function showDetails(download) {
	const { folder, labels, priority, speedLimit } = download;
	head = null;
	showFacts(download);
	details.open({ folder, labels: labels.join(", "), priority, speedLimit: limitOf(speedLimit), url: download.url });
	await showRecord();
	if (download.state !== "completed") return;
	const response = await send(download.links.file, { method: "HEAD" }).catch(() => null);
	if (shown.id !== download.id || !response) return;
	head = response.headers;
	showFacts(shown);
}

function showFacts(download) {
	shown = download;
	const { error, state, position, url, track, bytesTotal, mediaType, resumable, segments, attempts, checksum, sha256 } = download;
	const name = nameOf(download);
	details.fields.folder.disabled = state === "completed";
	details.fields.url.parentElement.hidden = !["failed", "paused"].includes(state);
	setText($("details-title").firstChild, name);
	setText($("details-state"), statusOf({ ...download, error: null }));
	setText($("details-error"), error ? `${inWords(error.message)} (${error.code})` : "");
	drawRanges(download);
	const actions = new Set([...actionsOf(download), state === "completed" ? "remove" : position !== null && "move to top"]);
	[...$("details-actions").children].forEach((button, index) => setAction(button, [...actions][index], name));
	const facts = [
		["Address", url],
		["Track", joined(track?.artist, track?.collection)],
		["Length", bytesTotal !== null && `${count(bytesTotal)} bytes`],
		["Position", position !== null && count(position + 1)],
		["Media type", mediaType],
		["Can resume", { true: "yes", false: "no" }[resumable]],
		["Connections", segments],
		["Attempts", attempts],
		["Expected", checksum],
		["SHA-256", sha256],
		...["created", "started", "completed", "expires"].map((event) => [capitalized(event), moment(download[event + "At"])]),
		...["ETag", "Last-Modified", "Content-Disposition"].map((name) => [name, head?.get(name)]),
	].filter(([, value]) => value);
	// Keeps a selection in unchanged text.
	if (facts.join() === drawnFacts) return;
	drawnFacts = facts.join();
	$("facts").replaceChildren(...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", { dir: "auto" }, value)]));
}

// A bar with the received ranges.
function drawRanges({ state, bytesReceived, bytesTotal, receivedRanges }) {
	const bar = $("ranges");
	const share = (bytes) => `${(100 * bytes) / (bytesTotal ?? Infinity)}%`;
	bar.replaceChildren(...receivedRanges.map(() => make("i")));
	receivedRanges.forEach(({ start, end }, index) => {
		Object.assign(bar.children[index].style, { insetInlineStart: share(start), width: share(end - start) });
	});
	bar.parentElement.dataset.state = state;
	const ranges = receivedRanges.length > 1 ? `, in ${count(receivedRanges.length)} ranges` : "";
	bar.ariaValueNow = bytesTotal ? Math.round((100 * bytesReceived) / bytesTotal) : null;
	bar.ariaLabel = `${part(bytesReceived, bytesTotal)} received${ranges}`;
}

// --- Adding links: typed, pasted or dropped

$("add-options").after(clone("choices").element);
const add = wireDialog("add", "Download", "Close", async () => {
	const { links, paused, checksum, headers } = add.fields;
	const addresses = entriesOf(links.value, /\s+/);
	const lines = entriesOf(headers.value, "\n").map((line) => {
		const [, name, value] = /^([^\s:]+):(.*)/.exec(line) ?? [];
		if (!name) throw new Error(`“${line}” is not written Name: value`);
		return [name, value.trim()];
	});
	const request = { ...settingsIn(add.fields), paused: paused.checked, headers: Object.fromEntries(lines) };
	if (checksum.value) request.checksum = checksum.value.trim().replace(/^(?=\w+$)/, "sha-256:");
	const refused = [];
	// A request has at most 1 MiB.
	for (let start = 0; start < addresses.length; start += 250) {
		const batch = addresses.slice(start, start + 250);
		const { items } = await call("POST", "downloads/batch", { downloads: batch.map((url) => ({ ...request, url })) });
		items.forEach(({ download, problem }, index) => {
			if (!download) refused.push([batch[index], inWords(problem.detail)]);
		});
	}
	const added = addresses.length - refused.length;
	if (added) say(`${counted(added, "download")} added.`);
	links.value = refused.map(([link]) => link).join("\n");
	if (refused.length) throw new Error(refused.slice(0, 20).map((reason) => reason.join(": ")).join("\n"));
	// These options must not apply to the next links.
	add.form.reset();
});

function showAdding(text) {
	if (!access.mayChange) return;
	const links = new Set(text.match(/\bhttps?:\/\/[^\s<>"']+/gi));
	if (!text || links.size) add.open(text && { links: [...links].join("\n") });
}

$("open-add").onclick = () => showAdding("");
addEventListener("paste", ({ target, clipboardData }) => {
	if (!target.closest?.("input, textarea, dialog")) showAdding(clipboardData.getData("text"));
});
ondragover = ondrop = async (event) => {
	if (document.querySelector("dialog[open]")) return;
	event.preventDefault();
	if (event.type === "dragover") return access.mayChange && say("Drop links to download them.");
	const transfer = event.dataTransfer;
	const files = [...transfer.files].filter(({ size }) => size < 1e6).map((file) => file.text());
	const texts = [transfer.getData("text/uri-list") || transfer.getData("text"), ...(await Promise.all(files))];
	showAdding(texts.join("\n"));
};

// --- Settings

const webhooksIn = ({ webhooks }) => entriesOf(webhooks.value, "\n");

const settings = wireDialog("settings", "Save settings", "Close", async () => {
	const { fields } = settings;
	const numbers = ["maxConcurrent", "maxPerHost", "segments"].map((name) => [name, Number(fields[name].value)]);
	const speedSchedule = entriesOf(fields.speedSchedule.value, "\n");
	await call("PATCH", "settings", { ...Object.fromEntries(numbers), speedLimit: limitIn(fields.speedLimit), speedSchedule, webhooks: webhooksIn(fields) });
	say("Settings saved.");
});

$("open-settings").onclick = () =>
	attempt(async () => {
		const values = await call("GET", "settings");
		$("forget").hidden = !sessionStorage.pawlToken;
		setText($("test-results"), "");
		settings.open({
			...values,
			speedLimit: limitOf(values.speedLimit),
			speedSchedule: values.speedSchedule.join("\n"),
			// With a token of scope read there are none.
			webhooks: (values.webhooks ?? []).join("\n"),
		});
	});
$("test-webhooks").onclick = async ({ target }) => {
	target.disabled = true;
	setText(settings.complaint, "");
	setText($("test-results"), "Sending…");
	let results = "";
	try {
		await call("PATCH", "settings", { webhooks: webhooksIn(settings.fields) });
		const { receivers } = await call("POST", "settings/webhooks/test");
		const outcomes = receivers.map(({ url, status, error }) => `${url}: ${error ?? `accepted with status ${status}`}`);
		results = outcomes.join("\n") || "There is no webhook.";
	} catch (error) {
		setText(settings.complaint, error.message);
	}
	setText($("test-results"), results);
	target.disabled = false;
};
$("forget").onclick = () => {
	delete sessionStorage.pawlToken;
	location.reload();
};

// --- The token

let give;
const token = wireDialog("token", "Continue", "", () => give(token.fields.token.value.trim()));
// Nothing can be shown without it.
token.close.remove();
token.dialog.oncancel = (event) => event.preventDefault();

access.prompt = (isWrong) => {
	token.open();
	token.form.reset();
	if (isWrong) setText(token.complaint, "The token is wrong.");
	return new Promise((resolve) => (give = resolve));
};
