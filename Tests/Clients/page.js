// The page of the tests: its functions are called by main.py.

import { Pawl, PawlError } from "/client/pawl.js";
import "/client/element.js";

// The number of open streams of this tab.
let streams = 0;
const fetch = window.fetch;
window.fetch = async (resource, init) => {
	if (!String(resource).includes("/events")) return fetch(resource, init);
	streams += 1;
	init.signal.addEventListener("abort", () => (streams -= 1), { once: true });
	return fetch(resource, init);
};

Object.assign(window, {
	Pawl,
	PawlError,
	statuses: [],
	// The states of each download, in order.
	histories: {},
	list: null,
	begin(url, token) {
		window.pawl = new Pawl(url, { token, onStatus: (status) => statuses.push(status) });
		pawl.watch((list) => {
			window.list = list;
			for (const { id, state } of list) if ((histories[id] ??= []).at(-1) !== state) histories[id].push(state);
		});
	},
	next(id) {
		window.detach = pawl.attach(audio, id);
		audio.play().catch(() => {});
	},
	leads: () => streams > 0,
	state: () => statuses.at(-1)?.state,
	play(id) {
		window.audio = Object.assign(new Audio(), { muted: true });
		window.detach = pawl.attach(audio, id);
		return audio.play().catch(() => {});
	},
	shadow: (selector) => document.querySelector("pawl-downloads").shadowRoot.querySelector(selector),
	isReady: true,
});
