// The console: starts its parts, and tells how things stand.

import { capitalized, nameOf } from "./actions.js";
import { startAdding } from "./add.js";
import { showDetails, startDetails } from "./details.js";
import { $, say, setText } from "./dom.js";
import { startDownloads } from "./downloads.js";
import * as format from "./format.js";
import { startGraph } from "./graph.js";
import { startSearch } from "./search.js";
import "./settings.js";
import { store } from "./store.js";

startDownloads(showDetails);
startDetails();
startAdding();
startGraph();
startSearch();
store.start((state, seconds) => {
  const texts = { online: "Live", connecting: "Connecting…", offline: `Offline; trying again in ${format.span(seconds ?? 0)}` };
  $("connection").dataset.state = state;
  setText($("connection-text"), texts[state]);
  $("reconnect").hidden = state !== "offline";
});
$("reconnect").addEventListener("click", () => store.feed.reconnect());

// What ends is said; several that end together, as a number.
let ended = [];
store.addEventListener("transition", ({ detail }) => {
  if (!["completed", "failed"].includes(detail.state) || ended.push(detail) > 1) return;
  setTimeout(() => {
    const [first, ...others] = ended;
    const text = `${capitalized(first.state)}: ${nameOf(first)}. ${first.error?.message ?? ""}`;
    say(others.length ? `${format.count(ended.length)} downloads ended.` : text, ended.some(({ state }) => state === "failed"));
    ended = [];
  }, 500);
});

/** The views are side by side where there is room, and one at a time where there is not. */
function showView() {
  const view = location.hash === "#downloads" ? "downloads" : "search";
  document.body.dataset.view = view;
  for (const link of document.querySelectorAll("nav a")) link.ariaCurrent = link.hash === "#" + view ? "page" : null;
}
addEventListener("hashchange", showView);
showView();

addEventListener("keydown", (event) => {
  if (event.key !== "k" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  location.hash = "#search";
  $("term").focus();
});
