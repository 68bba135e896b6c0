// The types of pawl.js. openapi.yaml describes the members of downloads and search results.

/** A failed request. An abort is no PawlError: it rejects with the reason of the signal, which is an `AbortError` by default. */
export class PawlError extends Error {
	/**
	 * The `code` of the problem. Other codes are `no-connection` and `timed-out` with the status 0, and `unexpected-response` for a response
	 * that does not come from the service, such as a page of a proxy.
	 */
	readonly code: string;
	/** The status of the response; 0 without a response. */
	readonly status: number;
	readonly detail: string;
	/** The seconds after which another attempt makes sense. */
	readonly retryAfter: number | null;
	/** The whole problem, with members such as `id` of a duplicate. */
	readonly problem: Readonly<Record<string, unknown>> | null;
}

export type State = "queued" | "downloading" | "paused" | "retrying" | "completed" | "failed" | "cancelled";

export interface Failure {
	readonly code: string;
	readonly message: string;
	readonly retryable: boolean;
	readonly httpStatus: number | null;
}

export interface Download {
	readonly id: string;
	readonly url: string;
	readonly state: State;
	readonly filename: string | null;
	readonly folder: string;
	readonly mediaType: string | null;
	readonly bytesReceived: number;
	readonly bytesTotal: number | null;
	/** From 0 to 1. */
	readonly progress: number | null;
	readonly bytesPerSecond: number;
	readonly etaSeconds: number | null;
	readonly resumable: boolean | null;
	readonly stalled: boolean;
	readonly segments: number;
	readonly attempts: number;
	readonly error: Failure | null;
	readonly checksum: string | null;
	readonly sha256: string | null;
	readonly priority: number;
	readonly labels: readonly string[];
	readonly speedLimit: number;
	readonly timeouts: { readonly connect: number | null; readonly response: number | null; readonly stall: number | null } | null;
	readonly remoteTime: boolean | null;
	readonly retry: { readonly attempts: number | null; readonly longestDelay: string; readonly statuses: readonly number[] } | null;
	readonly track: Readonly<Record<string, unknown>> | null;
	readonly createdAt: string;
	readonly startedAt: string | null;
	readonly updatedAt: string;
	readonly completedAt: string | null;
	readonly fileMissing: boolean;
	readonly receivedRanges: readonly { readonly start: number; readonly end: number }[];
	readonly waitingFor: string | null;
	readonly position: number | null;
	readonly expiresAt: string | null;
	readonly links: { readonly self: string; readonly file: string; readonly events: string };
}

/** Either `url` or `trackId` is needed. */
export interface DownloadRequest {
	url?: string | null;
	trackId?: string | null;
	filename?: string | null;
	folder?: string | null;
	headers?: Record<string, string> | null;
	checksum?: string | null;
	mediaType?: string | null;
	mirrors?: string[] | null;
	priority?: number | null;
	labels?: string[] | null;
	speedLimit?: number | null;
	segments?: number | null;
	timeouts?: { connect?: number | null; response?: number | null; stall?: number | null } | null;
	remoteTime?: boolean | null;
	retry?: { attempts?: number | null; longestDelay?: string | null; statuses?: number[] | null } | null;
	paused?: boolean | null;
	track?: Record<string, unknown> | null;
	webhook?: string | null;
	onDuplicate?: "return" | "reject" | "new" | null;
	position?: number | null;
}

export interface SearchItem {
	readonly id: string | null;
	readonly kind: string | null;
	readonly name: string | null;
	readonly artist: string | null;
	readonly collection: string | null;
	readonly genre: string | null;
	readonly durationMs: number | null;
	readonly releaseDate: string | null;
	readonly explicit: boolean | null;
	readonly artworkUrl: string | null;
	readonly pageUrl: string | null;
	readonly downloadUrl: string | null;
	readonly partCount: number | null;
	readonly partOf: string | null;
	readonly season: number | null;
	readonly format: string | null;
	readonly bytes: number | null;
	readonly checksum: string | null;
	readonly licenseUrl: string | null;
	readonly number: number | null;
	readonly links: { readonly parts: string | null; readonly feed: string | null };
	readonly download: { readonly id: string; readonly state: State } | null;
}

export interface SearchResponse {
	readonly source: string;
	readonly term: string | null;
	readonly limit: number;
	readonly offset: number;
	readonly count: number;
	readonly attribution: string | null;
	readonly results: readonly SearchItem[];
}

export interface Options {
	signal?: AbortSignal;
}

export interface SearchOptions extends Options {
	/** A name for a series of searches, of at most 50 characters. A newer search cancels the older one, whose code is `search-superseded`. */
	session?: string;
	source?: string;
	media?: string;
	entity?: string;
	attribute?: string;
	country?: string;
	lang?: string;
	explicit?: "Yes" | "No";
	limit?: number;
	offset?: number;
	include?: "raw";
}

/** The state of the stream of events. */
export interface Status {
	/** `stopped`: the token is refused. Only `reconnect` or another `watch` connects again. */
	readonly state: "connecting" | "online" | "offline" | "stopped";
	/** The reason for `offline` and `stopped`; a PawlError, or its copy from another tab, which has only the message. */
	readonly error?: Error;
	/** The seconds until the next attempt, while `offline`. */
	readonly retryIn?: number;
}

export interface PawlOptions {
	token?: string | null;
	/** Called with each change of the connection. By default, errors are written to the console. */
	onStatus?: (status: Status) => void;
	/**
	 * Called with each event of the stream, also of subscriptions. `missed` says that events may have been lost, so that lists
	 * of anything but downloads have to be read again.
	 */
	onEvent?: (name: string, data: any) => void;
}

export class Pawl {
	/** @param url The address of the service, with the base path if there is one; relative to the page. */
	constructor(url: string | URL, options?: PawlOptions);

	readonly url: string;

	/** Searches a source. */
	search(term: string, options?: SearchOptions): Promise<SearchResponse>;

	/** Adds a download, or finds the one of the same URL. */
	add(download: DownloadRequest, options?: Options): Promise<Download>;

	/** Stops a download, and keeps its bytes. */
	pause(id: string, options?: Options): Promise<Download>;

	/** Continues a paused or failed download. */
	resume(id: string, options?: Options): Promise<Download>;

	/** Stops a download, and deletes its bytes. */
	cancel(id: string, options?: Options): Promise<Download>;

	/** Starts a failed or cancelled download from the first byte. */
	retry(id: string, options?: Options): Promise<Download>;

	/** Removes a download; its finished file stays unless `deleteFile` is true. */
	remove(id: string, options?: Options & { deleteFile?: boolean }): Promise<null>;

	/**
	 * Calls back with all downloads, the newest first, once they are known and after each change. The lists are immutable, and downloads
	 * that have not changed are the same objects as before. Of more than 20,000 downloads, the list has the newest ones.
	 * @returns A function that ends this.
	 */
	watch(callback: (downloads: readonly Download[]) => void, options?: Options): () => void;

	/** The same as `watch`, for React's `useSyncExternalStore` and the like. */
	subscribe(callback: () => void): () => void;

	/** The current list; empty until it is known. */
	getSnapshot(): readonly Download[];

	/** Connects now, if the stream waits for its next attempt or has stopped. */
	reconnect(): void;

	/** An absolute URL of the finished file, for links; with a ticket if there is a token. The ticket is valid for some minutes. */
	fileURL(id: string, options?: Options): Promise<string>;

	/**
	 * Loads the finished file into a media element, in the place of an earlier one. It plays if the element plays or `play()` was called.
	 * After an error or a stall, it gets another URL, and continues at the same position: ten times in a row at most.
	 * @returns A function that ends this.
	 */
	attach(media: HTMLMediaElement, id: string, options?: Options): () => void;

	/** Sends JSON to any path of the API, such as `downloads/batch` or one of `links`; returns the JSON of the response. */
	request<T = unknown>(
		method: string, path: string | URL, options?: Options & { body?: unknown; query?: Record<string, unknown> },
	): Promise<T>;

	/** Does what the browser's `fetch` does, with the token. A response that is no success is a PawlError. */
	fetch(path: string | URL, init?: RequestInit): Promise<Response>;
}
