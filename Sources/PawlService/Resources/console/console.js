// Loads the parts, and tells how things stand.

import { capitalized, nameOf } from "./actions.js";
import { access } from "./api.js";
import "./dialogs.js";
import { $, say, setText } from "./dom.js";
import "./downloads.js";
import * as format from "./format.js";
import "./search.js";
import { store } from "./store.js";

store.start((state, seconds) => {
	const texts = { online: access.mayChange ? "Live" : "Live, read only", connecting: "Connecting…", offline: `Offline; trying again in ${format.span(seconds ?? 0)}` };
	$("connection").dataset.state = state;
	setText($("connection-text"), texts[state]);
	$("reconnect").hidden = state !== "offline";
});
$("reconnect").onclick = () => store.reconnect();

store.addEventListener("transition", ({ detail: download }) => {
	const { state, error } = download;
	if (["completed", "failed"].includes(state)) say([`${capitalized(state)}: ${nameOf(download)}`, error?.message].filter(Boolean).join(" · "), Boolean(error));
});

/** The views are side by side where there is room, and one at a time where there is not. */
function showView() {
	for (const link of document.querySelectorAll("nav a")) link.ariaCurrent = link.hash === (location.hash || "#search") ? "page" : null;
}
addEventListener("hashchange", showView);
showView();

addEventListener("keydown", (event) => {
	if (event.key !== "k" || !(event.ctrlKey || event.metaKey)) return;
	event.preventDefault();
	location.hash = "#search";
	$("term").select();
});

// --- The speed of the whole service over the last five minutes, a point a second

const samples = new Array(300).fill(0);
const svg = $("graph").firstElementChild;

function drawGraph() {
	const [now, peak] = [samples.at(-1), Math.max(...samples)];
	const points = samples.map((value, index) => `${index},${(39 - (34 * value) / (peak || 1)).toFixed(1)}`);
	// What closes the area is out of sight.
	svg.firstChild.setAttribute("d", `M-9,60L${points.join("L")}H310V60Z`);
	setText($("speed"), format.speed(now));
	setText($("peak"), peak ? `peak ${format.speed(peak)}` : "");
	svg.ariaLabel = `Speed of the last 5 minutes: now ${format.speed(now)}, at most ${format.speed(peak)}`;
}

drawGraph();
setInterval(() => {
	samples.shift();
	samples.push([...store.all.values()].reduce((sum, { bytesPerSecond }) => sum + bytesPerSecond, 0));
	if (!document.hidden) drawGraph();
}, 1000);
