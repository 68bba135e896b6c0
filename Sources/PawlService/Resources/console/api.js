// Talks to the service: requests with the token, problems as errors, and the event stream.

let token = sessionStorage.pawlToken;
let asking;

export const access = {
	// Asks for a token, told whether the last was wrong; set by the page.
	prompt: null,
	// Whether the token is good for more than reading.
	mayChange: true,
};

// Asks for a token as long as the service wants another.
export async function send(path, options = {}) {
	for (;;) {
		const used = token;
		const headers = { ...options.headers, ...(used && { Authorization: "Bearer " + used }) };
		const response = await fetch(path, { ...options, headers }).catch((error) => {
			throw error.name === "AbortError" ? error : new Error("The service cannot be reached.");
		});
		if (response.status !== 401) return response;
		if (token !== used) continue;
		asking ??= access.prompt(Boolean(used)).finally(() => (asking = null));
		sessionStorage.pawlToken = token = await asking;
	}
}

// Takes and returns JSON. A problem is thrown: its message is for people, its `code` for decisions.
export async function call(method, path, body, signal) {
	const content = body && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
	const response = await send(path, { method, signal, ...content });
	// What is not JSON comes from a proxy: then the status has to do.
	const json = /json/.test(response.headers.get("Content-Type")) ? await response.json() : {};
	if (response.ok) return json;
	const message = json.detail || json.title || `The service responded with status ${response.status}.`;
	throw Object.assign(new Error(message), { code: json.code });
}

// An address that the browser can load by itself: with a ticket, as it would not send the token.
export const loadable = async (path) => `${path}?ticket=${(await call("POST", "tickets")).ticket}`;

// Follows all events for ever, and tells how that goes. Returns what tries again at once.
export function follow(onEvent, onState) {
	let source;
	let timer;
	let failures = 0;
	const fail = () => {
		source?.close();
		const seconds = Math.min(10, 0.5 * 2 ** failures++) * (0.8 + 0.4 * Math.random());
		onState("offline", seconds);
		clearTimeout(timer);
		timer = setTimeout(connect, seconds * 1000);
	};
	const connect = async () => {
		clearTimeout(timer);
		onState("connecting");
		try {
			// Another connection may have another token.
			access.mayChange = (await call("GET", "stats")).scope === "full";
			document.body.classList.toggle("read-only", !access.mayChange);
			const address = await loadable("downloads/events");
			source?.close();
			source = new EventSource(address);
		} catch {
			return fail();
		}
		source.onopen = () => onState("online", (failures = 0));
		source.onerror = fail;
		for (const name of ["snapshot", "download", "removed"]) source.addEventListener(name, ({ data }) => onEvent(name, JSON.parse(data)));
	};
	// A page that is kept for going back to would keep its connection, one of six.
	onpagehide = () => source?.close();
	onpageshow = ({ persisted }) => persisted && connect();
	onoffline = fail;
	ononline = connect;
	connect();
	return connect;
}
