// The list of downloads: filter, order, selection, and what can be done with many at once.

import { capitalized, isActive, nameOf, perform, performOnMany, setAction, showState } from "./actions.js";
import { call } from "./api.js";
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
/** Orders that change with progress. */
const restless = ["size", "progress", "speed"];

/** The states that each command for many is meant for. */
const eligible = { pause: activeStates, resume: ["paused"], cancel: [...activeStates, "paused"], clear: ["failed", "completed", "cancelled"] };

const selection = new Set();
let anchor;
let list;
let open;
let timer;

export function startDownloads(showDetails) {
  open = showDetails;
  list = new VirtualList($("scroller"), $("list"), makeRow);
  for (const state of ["", ...states]) {
    const radio = make("input", { type: "radio", name: "state", value: state });
    radio.checked = !state;
    $("states").append(make("label", {}, radio, capitalized(state || "all") + " ", make("b")));
  }
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("input", () => {
    $("scroller").scrollTop = 0;
    selection.clear();
    arrange();
  });
  $("select-all").addEventListener("change", ({ target }) => select(target.checked ? list.order : []));
  $("bulk").addEventListener("click", ({ target }) => attempt(() => performOnShown(target.dataset.bulk)));
  $("list").addEventListener("click", onClick);
  $("list").addEventListener("keydown", onKey);
  store.addEventListener("change", ({ detail: { changed, hasMoved } }) => {
    list.update(changed);
    if (hasMoved || restless.includes($("sort").value)) timer ??= setTimeout(arrange, 100);
  });
  arrange();
}

/** What the filter asks for. */
const wanted = () => ({ state: $("filters").elements.state.value, label: $("label").value, text: $("filter").value.trim().toLowerCase() });

// MARK: - What is shown

function arrange() {
  clearTimeout(timer);
  timer = undefined;
  const { state, label, text } = wanted();
  const matches = (download) =>
    (!state || download.state === state) && (!label || download.labels.includes(label)) && (!text || textOf(download).includes(text));
  const shown = [...store.all.values()].filter(matches).sort(orders[$("sort").value]);
  for (const id of selection) if (!store.all.has(id)) selection.delete(id);
  list.show(shown.map(({ id }) => id));
  offerLabels(label);
  showCounts();
}

const textOf = ({ url, filename, labels, track }) =>
  [url, filename, track?.name, track?.artist, track?.collection, ...labels].join("\n").toLowerCase();

function offerLabels(chosen) {
  const labels = [...new Set([...store.all.values()].flatMap((download) => download.labels))].sort(compare);
  const [any, ...known] = $("label").options;
  if (String(labels) === String(known.map(({ value }) => value))) return;
  $("label").replaceChildren(any, ...labels.map((label) => make("option", { value: label }, label)));
  $("label").value = labels.includes(chosen) ? chosen : "";
}

const numberOf = (count) => `${format.count(count)} ${count === 1 ? "download" : "downloads"}`;

function showCounts() {
  const { all, counts, total, isLoading } = store;
  // Until then the numbers would make everything jump.
  $("states").style.visibility = isLoading ? "hidden" : "";
  for (const { value, parentElement } of $("filters").elements.state) {
    setText(parentElement.lastChild, format.count(value ? counts[value] : all.size));
  }
  const [shown, selected] = [list.order.length, selection.size];
  const older = isLoading || total <= all.size ? "" : `, the newest of ${format.count(total)}`;
  setText($("summary"), selected ? `${format.count(selected)} of ${format.count(shown)} selected` : numberOf(shown) + older);
  $("select-all").checked = selected > 0 && selected === shown;
  $("select-all").indeterminate = selected > 0 && selected < shown;
  for (const button of $("bulk").querySelectorAll("button")) {
    const verb = button.dataset.bulk;
    const count = targets(verb).length;
    const name = verb === "resume" && wanted().state === "failed" ? "retry" : verb;
    setText(button, `${capitalized(name)} ${selected ? format.count(count) : verb === "clear" ? "ended" : "all"}`);
    button.disabled = count === 0;
  }
  $("empty").hidden = shown > 0 || isLoading;
  setText($("empty"), all.size ? "No download matches the filter." : "Nothing here yet. Search for something, paste a link, or drop one here.");
  const active = activeStates.reduce((sum, state) => sum + counts[state], 0);
  $("active-count").hidden = !active;
  setText($("active-count"), format.count(active));
  document.title = active ? `(${format.count(active)}) Pawl` : "Pawl";
}

// MARK: - A row

function makeRow() {
  const { element, parts } = stamp("download-template");
  let drawn;
  let about;
  const show = (id) => {
    element.ariaSelected = parts.pick.checked = selection.has(id);
    const download = store.all.get(id);
    if (!download || download === drawn) return;
    drawn = download;
    const { state, url, track, labels, priority, mediaType } = download;
    const name = nameOf(download);
    setText(parts.name, name);
    element.ariaLabel = parts.name.title = name;
    element.dataset.state = state;
    parts.pick.ariaLabel = `Select ${name}`;
    const texts = [track?.artist ?? new URL(url).host, track?.collection, priority && `priority ${format.count(priority)}`];
    if (about !== String([texts, labels])) {
      about = String([texts, labels]);
      parts.about.replaceChildren(...isolated(texts), ...labels.map((label) => make("bdi", { class: "label" }, label)));
    }
    artwork(parts.art, track?.artworkUrl, mediaType?.startsWith("audio/") ? "note" : "file");
    setAction(parts.details, "details", name);
    const focused = document.activeElement;
    showState(parts, download, name);
    if (focused.hidden && element.contains(focused)) element.focus();
  };
  return { element, show };
}

function onClick({ target, shiftKey, ctrlKey, metaKey }) {
  const download = store.all.get(target.closest(".row")?.dataset.id);
  const action = target.closest("button")?.dataset.do;
  if (action === "details") open(download);
  else if (action) perform(action, download);
  else if (download && (target.matches("input") || shiftKey || ctrlKey || metaKey)) toggle(download.id, shiftKey);
}

// MARK: - Selection and keys

function toggle(id, isRange) {
  const ends = [list.order.indexOf(anchor), list.order.indexOf(id)].sort((a, b) => a - b);
  if (isRange && ends[0] >= 0) return select([...selection, ...list.order.slice(ends[0], ends[1] + 1)]);
  anchor = id;
  select(selection.has(id) ? [...selection].filter((each) => each !== id) : [...selection, id]);
}

function select(ids) {
  selection.clear();
  for (const id of ids) selection.add(id);
  list.update();
  showCounts();
}

function onKey(event) {
  const { key, shiftKey, target } = event;
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  const id = list.current;
  const download = store.all.get(id);
  const page = list.rowsPerPage;
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[key];
  if (step && !hasModifier) {
    if (shiftKey) anchor ??= id;
    list.focus(list.order.indexOf(id) + step);
    if (shiftKey) toggle(list.current, true);
  } else if (key === "a" && hasModifier) select(list.order);
  else if (key === "Escape") select([]);
  else if (key === " " && target.matches(".row")) toggle(id, shiftKey);
  else if (key === "Enter" && target.matches(".row")) open(download);
  else if (key === "Delete") perform(eligible.cancel.includes(download.state) ? "cancel" : "remove", download);
  else if (key === "p" && !hasModifier) perform(isActive(download) ? "pause" : "resume", download);
  else return;
  event.preventDefault();
}

// MARK: - Many at once

/** What a command applies to: the selection if there is one, and all that is shown if not. */
function targets(verb) {
  const takesFailed = verb === "resume" && (selection.size || wanted().state === "failed");
  const ids = selection.size ? [...selection] : list.order;
  return ids.map((id) => store.all.get(id)).filter(({ state }) => eligible[verb].includes(state) || (takesFailed && state === "failed"));
}

async function performOnShown(verb) {
  if (!verb) return;
  const { label, text } = wanted();
  const downloads = targets(verb);
  const number = numberOf(downloads.length);
  let choice;
  if (verb === "cancel") choice = await ask(`Cancel ${number}?`, "What has arrived is deleted.", "Cancel them");
  if (verb === "clear") choice = await ask(`Clear ${number}?`, "They are taken off the list.", "Clear", true);
  if (choice === null) return;
  if (verb === "clear" || selection.size || text) return performOnMany(downloads, verb, choice?.deletesFiles);
  // What its filter can tell, the service does at once, and also to those that are not loaded here.
  const query = new URLSearchParams([...new Set(downloads.map(({ state }) => state))].map((state) => ["state", state]));
  if (label) query.set("label", label);
  const { changed } = await call("POST", `/downloads/${verb}?${query}`);
  say(`${format.count(changed)} changed.`);
}
