// Talks to the service: requests with the token, problems as errors, and the event stream.

const key = "pawl-token";
let token = sessionStorage.getItem(key);
let asking;

export const access = {
  /** Asks for a token; set by the page. */
  prompt: async (_isWrong) => "",
  hasToken: () => token !== null,
  forget: () => sessionStorage.removeItem(key),
};

/** What went wrong, in words for people; `code` is for decisions. */
export class Problem extends Error {
  constructor(status, { code, title, detail } = {}, retryAfter = 0) {
    super(detail || title || `The service answered with status ${status}.`);
    Object.assign(this, { status, code, retryAfter });
  }
}

/** Sends a request, and asks for a token as long as the service wants another. */
export async function send(path, options = {}) {
  for (;;) {
    const used = token;
    const headers = { ...options.headers, ...(used && { Authorization: "Bearer " + used }) };
    const response = await fetch(path, { ...options, headers }).catch((error) => {
      throw error.name === "AbortError" ? error : new Problem(0, { detail: "The service cannot be reached." });
    });
    if (response.status !== 401) return response;
    if (token !== used) continue;
    asking ??= access.prompt(used !== null).finally(() => (asking = null));
    token = await asking;
    sessionStorage.setItem(key, token);
  }
}

/** Sends a request and reads its answer as JSON; throws a `Problem` if it is one. */
export async function call(method, path, body, signal) {
  const content = body && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const response = await send(path, { method, signal, ...content });
  // What is not JSON comes from a proxy: then the status has to do.
  const isJSON = /json/.test(response.headers.get("Content-Type"));
  const answer = isJSON ? await response.json() : undefined;
  if (!response.ok) throw new Problem(response.status, answer, Number(response.headers.get("Retry-After")));
  return answer;
}

/** Milliseconds of silence that tell of a dead connection: the service sends a comment every 15 s. */
const longestSilence = 45_000;

/** Follows the events of all downloads for ever, and asks for what it missed. `EventSource` could not carry a token. */
export class EventFeed {
  /** Tries now instead of later. */
  reconnect = () => {};
  #lastID = "";
  #failures = 0;

  /** `onEvent(name, data)`; `onState("online", "connecting" or "offline", secondsToNextAttempt)`. */
  constructor(onEvent, onState) {
    this.onEvent = onEvent;
    this.onState = onState;
    addEventListener("online", () => this.reconnect());
    this.#run();
  }

  async #run() {
    for (;;) {
      // Whatever ends the stream, the answer is to try again.
      await this.#follow().catch(() => {});
      const seconds = Math.min(10, 0.5 * 2 ** this.#failures++) * (0.8 + 0.4 * Math.random());
      this.onState("offline", seconds);
      await new Promise((resolve) => {
        this.reconnect = resolve;
        setTimeout(resolve, seconds * 1000);
      });
      this.onState("connecting");
    }
  }

  async #follow() {
    const controller = new AbortController();
    let alarm;
    const listen = () => {
      clearTimeout(alarm);
      alarm = setTimeout(() => controller.abort(), longestSilence);
    };
    listen();
    try {
      const headers = this.#lastID && { "Last-Event-ID": this.#lastID };
      const response = await send("/downloads/events", { headers, cache: "no-store", signal: controller.signal });
      if (!response.ok) return;
      this.#failures = 0;
      this.onState("online");
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        listen();
        const blocks = (rest + piece.value).split("\n\n");
        rest = blocks.pop();
        blocks.forEach((block) => this.#take(block));
      }
    } finally {
      clearTimeout(alarm);
      controller.abort();
    }
  }

  /** One event: lines of `name: value` (WHATWG HTML §9.2.6), each name once, as this service writes them. */
  #take(block) {
    const { id, event, data } = Object.fromEntries(block.split("\n").map((line) => line.split(/: ?(.*)/s)));
    if (!data) return;
    this.onEvent(event, JSON.parse(data));
    this.#lastID = id;
  }
}
