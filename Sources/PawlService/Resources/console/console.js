// Loads the other scripts, and shows the connection's state.

import { capitalized, isActive, nameOf } from "./actions.js";
import "./dialogs.js";
import { $, say, setText } from "./dom.js";
import "./downloads.js";
import { inWords, joined, span, speed, sum } from "./format.js";
import "./search.js";
import "./subscriptions.js";
import { access, reconnect, store } from "./live.js";

let timer;
access.show = (state, seconds) => {
	clearTimeout(timer);
	if (store.isLoading && state !== "offline") timer = setTimeout(() => access.show(!store.isLoading ? "online" : $("token").open ? state : "held"), 8000);
	const texts = { online: access.mayChange ? "Live" : "Live, read only", connecting: "Connecting…", held: "A proxy may hold events back", offline: `Offline; trying again in ${span(seconds ?? 0)}` };
	$("connection").dataset.state = state;
	setText($("connection-text"), texts[state]);
	$("reconnect").hidden = state !== "offline";
	document.body.classList.toggle("read-only", !access.mayChange);
	if (access.version) setText($("version"), `Pawl ${access.version}`);
};
$("reconnect").onclick = reconnect;

store.onTransition = (download) => {
	const { state, error } = download;
	if (/completed|failed/.test(state)) say(joined(`${capitalized(state)}: ${nameOf(download)}`, error && inWords(error.message)), error);
};

// Narrow windows show one view, wide ones the downloads and another.
function markViews() {
	for (const link of document.querySelectorAll("nav a")) link.ariaCurrent = document.querySelector(link.hash).checkVisibility() ? "page" : null;
}

const isNarrow = matchMedia("(max-width: 66rem)");
isNarrow.onchange = onhashchange = markViews;
markViews();

// Where only one view fits, the downloads come first while some are live.
store.addEventListener("change", () => {
	if (isNarrow.matches && !location.hash && !$("term").value && [...store.all.values()].some(isActive)) location.replace("#downloads");
}, { once: true });

onkeydown = (event) => {
	if (event.key !== "k" || !(event.ctrlKey || event.metaKey)) return;
	event.preventDefault();
	location.hash = "#search";
	$("term").select();
};

// --- The speed of the last 5 minutes, one point per second

const samples = Array(300).fill(0);
const svg = $("graph").firstElementChild;

function drawGraph() {
	const [now, peak] = [samples.at(-1), Math.max(...samples)];
	const points = samples.map((value, index) => `${index},${(39 - (34 * value) / (peak || 1)).toFixed(1)}`);
	// Closes outside the picture.
	svg.firstChild.setAttribute("d", `M-9,60L${points.join("L")}H310V60Z`);
	const text = now ? speed(now) : "Idle";
	setText($("speed"), text);
	setText($("peak"), peak ? `peak ${speed(peak)}` : "");
	svg.ariaLabel = `Speed of the last 5 minutes: now ${text}, at most ${speed(peak)}`;
}

drawGraph();
setInterval(() => {
	samples.shift();
	samples.push(sum([...store.all.values()], "bytesPerSecond"));
	if (!document.hidden) drawGraph();
}, 1000);
