// The connection to the service: requests with the token, problems as errors, and the event stream.

let token = sessionStorage.pawlToken;
let asking;

export const access = {
	// Asks for a token, with `true` if the last was wrong; set by the page.
	prompt: null,
	// Whether the scope of the token is `full`.
	mayChange: true,
};

// Sends a request, and asks for a token while the service refuses it.
export async function send(path, options = {}) {
	for (;;) {
		const used = token;
		const headers = { ...options.headers, ...(used && { Authorization: "Bearer " + used }) };
		const response = await fetch(path, { ...options, headers }).catch((error) => {
			throw error.name === "AbortError" ? error : new Error("The service is unreachable.");
		});
		if (response.status !== 401) return response;
		if (token !== used) continue;
		asking ??= access.prompt(Boolean(used)).finally(() => (asking = null));
		sessionStorage.pawlToken = token = await asking;
	}
}

// Sends and returns JSON. A problem becomes an error with its `code`.
export async function call(method, path, body, signal) {
	const content = body && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
	return contentOf(await send(path, { method, signal, ...content }));
}

export async function contentOf(response) {
	// A response without JSON comes from a proxy.
	const json = /json/.test(response.headers.get("Content-Type")) ? await response.json() : {};
	if (response.ok) return json;
	const message = json.detail || json.title || `The service responded with status ${response.status}.`;
	throw Object.assign(new Error(message), { code: json.code });
}

// A URL with a ticket, since browsers load it without the token.
export const loadable = async (path) => `${path}?ticket=${(await call("POST", "tickets")).ticket}`;

const eventNames = ["snapshot", "download", "removed", "subscriptions", "subscription", "subscription-removed"];

// Follows all events, and reports the connection's state. Returns a function that reconnects.
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
			const address = (await loadable("downloads/events")) + "&include=subscriptions";
			source?.close();
			source = new EventSource(address);
		} catch {
			return fail();
		}
		source.onopen = () => onState("online", (failures = 0));
		source.onerror = fail;
		for (const name of eventNames) source.addEventListener(name, ({ data }) => onEvent(name, JSON.parse(data)));
	};
	// A page in the back/forward cache would keep one of six connections.
	onpagehide = () => source?.close();
	onpageshow = ({ persisted }) => persisted && connect();
	onoffline = fail;
	ononline = connect;
	connect();
	return connect;
}
