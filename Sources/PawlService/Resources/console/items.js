// The items of a subscription: their states, take and skip.

import { setAction } from "./actions.js";
import { attempt, clone, make, place, setText } from "./dom.js";
import { reveal } from "./downloads.js";
import { count, counted, day, joined } from "./format.js";
import { access, call, store } from "./live.js";

const pageSize = 50;

const reasons = {
	backlog: "older than the subscription",
	filtered: "left out by the filter",
	"by-hand": "by hand",
	"destination-forbidden": "its address is forbidden",
	empty: "nothing to download",
};

function stateOf({ state, reason, download }) {
	if (state === "taken") return joined("Taken", store.all.get(download?.id)?.state ?? download?.state);
	if (state === "skipped") return `Skipped: ${reasons[reason] ?? reason}`;
	return { new: "New: taken on resumption", expired: "Expired: made room for newer items" }[state];
}

// The opened part of a subscription's row.
export function makeItems(subscription) {
	const { name, links } = subscription;
	const rows = new Map();
	let items = [];
	let cursor = "";
	let wanted = pageSize;
	let reading;

	const tools = ["settings", "downloads", "remove"].map((action) => {
		const button = make("button");
		setAction(button, action, name);
		return button;
	});
	const status = make("p", { class: "soft", role: "status" }, "Loading…");
	const list = make("div", { role: "list", "aria-label": `Items of ${name}` });
	const more = make("button", { hidden: "" }, "More items");
	// Its address has a key for callers that may see it.
	const feed = make("a", { class: "soft", href: links.feed, target: "_blank" }, "Podcast of the files");
	const element = make("div", { class: "work" }, ...tools, ...(access.mayChange ? [feed] : []), status, list, more);

	// Reads the items after a cursor, or all that are wanted.
	async function read(after = "") {
		const own = (reading = {});
		const found = after ? [...items] : [];
		try {
			do {
				const page = await call("GET", `${links.items}?limit=${Math.min(wanted - found.length, 200)}${after && "&cursor=" + after}`);
				// A newer one reads them again.
				if (reading !== own) return;
				found.push(...page.items);
				after = page.nextCursor;
			} while (after && found.length < wanted);
		} catch (error) {
			return setText(status, error.message);
		}
		[items, cursor] = [found, after];
		draw();
	}

	function draw() {
		const ids = new Set(items.map(({ id }) => id));
		for (const id of rows.keys()) if (!ids.has(id)) rows.delete(id);
		for (const item of items) {
			if (!rows.has(item.id)) rows.set(item.id, makeRow());
			rows.get(item.id).show(item);
		}
		place(list, [...ids].map((id) => rows.get(id).element));
		more.hidden = !cursor;
		const total = Object.values(subscription.items).reduce((sum, number) => sum + number, 0);
		setText(status, items.length ? `${count(items.length)} of ${counted(Math.max(total, items.length), "item")}` : "No items yet.");
	}

	function makeRow() {
		const { element, nodes } = clone("row");
		for (const node of [nodes.pick.parentElement, nodes.art, nodes.bar, nodes.status, nodes.details]) node.remove();
		element.role = "listitem";
		const row = { element };
		row.show = (item) => {
			row.item = item;
			const { releaseDate, state, download } = item;
			const name = item.name || "Untitled";
			element.dataset.state = state;
			setText(nodes.name, name);
			setText(nodes.about, joined(stateOf(item), day(releaseDate)));
			Object.assign(nodes.page, { hidden: !download, href: "#downloads", target: "", ariaLabel: `Show download of ${name}` });
			setText(nodes.page, "Show download");
			setAction(nodes.first, state !== "taken" && "take", name);
			setAction(nodes.second, state === "new" && "skip", name);
		};
		nodes.page.onclick = (event) => {
			event.preventDefault();
			reveal("", row.item.download.id);
		};
		element.onclick = (event) => {
			// An item is inside its subscription.
			event.stopPropagation();
			const verb = event.target.closest("button")?.dataset.do;
			if (verb) attempt(() => decide(row, verb));
		};
		return row;
	}

	async function decide({ item }, verb) {
		const decided = await call("POST", `${links.items}/${encodeURIComponent(item.id)}/${verb}`);
		items = items.map((each) => (each.id === decided.id ? decided : each));
		draw();
	}

	more.onclick = async () => {
		const { length } = items;
		wanted = length + pageSize;
		await read(cursor);
		const next = rows.get(items[length]?.id);
		next?.element.querySelector("button:not([hidden]), a:not([hidden])")?.focus();
	};
	read();
	return {
		element,
		// Shows a change of the subscription.
		show(next, before) {
			subscription = next;
			if (JSON.stringify(next.items) !== JSON.stringify(before.items) || next.changedAt !== before.changedAt) read();
			else draw();
		},
		// Shows changes of downloads with these ids.
		update(changed) {
			for (const item of items) if (changed.has(item.download?.id)) rows.get(item.id).show(item);
		},
	};
}
