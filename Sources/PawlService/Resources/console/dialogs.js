// The dialogs: details of a download, adding links, settings, and the token.

import { actionsOf, capitalized, nameOf, perform, setAction, statusOf } from "./actions.js";
import { access, call, send } from "./api.js";
import { $, attempt, make, say, setText, clone, wireDialog } from "./dom.js";
import { count, counted, joined, moment, part } from "./format.js";
import { store } from "./store.js";

export const entriesOf = (text, separator) => text.split(separator).map((entry) => entry.trim()).filter(Boolean);

// The values of the fields in the template.
export const settingsIn = ({ folder, labels, priority, speedLimit }) => ({
	// Finished files are not moved.
	folder: folder.disabled ? null : folder.value.trim(),
	labels: entriesOf(labels.value, ","),
	priority: Number(priority.value),
	speedLimit: Math.round(speedLimit.value * 1e6),
});

// --- Details

let shown;
// The header fields of the finished file.
let head;
let drawnFacts;
$("facts").after(clone("choices").element);
const details = wireDialog("details", "Save changes", "Close", async () => {
	store.put(await call("PATCH", shown.links.self, settingsIn(details.fields)));
});

store.addEventListener("change", ({ detail }) => {
	if (!details.dialog.open || !detail.changed.has(shown.id)) return;
	if (store.all.has(shown.id)) showFacts(store.all.get(shown.id));
	else details.dialog.close();
});
$("details-actions").onclick = ({ target }) => perform(target.closest("button")?.dataset.do, [shown]);

export async function showDetails(download) {
	const { folder, labels, priority, speedLimit } = download;
	head = null;
	showFacts(download);
	details.open({ folder, labels: labels.join(", "), priority, speedLimit: speedLimit / 1e6 || "" });
	// A change of the position alone sends no event.
	store.put(await call("GET", download.links.self));
	if (download.state !== "completed") return;
	const response = await send(download.links.file, { method: "HEAD" });
	if (shown.id !== download.id || !response.ok) return;
	head = response.headers;
	showFacts(shown);
}

function showFacts(download) {
	shown = download;
	const { error, state, position, url, track, bytesTotal, mediaType, resumable, segments, attempts, checksum, sha256 } = download;
	const name = nameOf(download);
	details.fields.folder.disabled = state === "completed";
	setText($("details-title").firstChild, name);
	setText($("details-state"), statusOf({ ...download, error: null }));
	setText($("details-error"), error ? `${error.message} (${error.code})` : "");
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
	const lines = entriesOf(headers.value, "\n").map((line) => line.split(/:(.*)/, 2));
	const request = { ...settingsIn(add.fields), paused: paused.checked, headers: Object.fromEntries(new Headers(lines)) };
	if (checksum.value) request.checksum = checksum.value.trim().replace(/^(?=\w+$)/, "sha-256:");
	const refused = [];
	// A request has at most 1 MiB.
	for (let start = 0; start < addresses.length; start += 250) {
		const batch = addresses.slice(start, start + 250);
		const { items } = await call("POST", "downloads/batch", { downloads: batch.map((url) => ({ ...request, url })) });
		items.forEach(({ download, problem }, index) => {
			if (download) store.put(download);
			else refused.push([batch[index], problem.detail]);
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
	const speedLimit = Math.round(fields.speedLimit.value * 1e6);
	await call("PATCH", "settings", { ...Object.fromEntries(numbers), speedLimit, speedSchedule, webhooks: webhooksIn(fields) });
	say("Settings saved.");
});

$("open-settings").onclick = () =>
	attempt(async () => {
		const values = await call("GET", "settings");
		$("forget").hidden = !sessionStorage.pawlToken;
		setText($("test-results"), "");
		settings.open({
			...values,
			speedLimit: values.speedLimit / 1e6 || "",
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
