// A consumer of the types: compiled with --strict, never run.

import "../../Clients/JavaScript/element.js";
import { Pawl, PawlError, type Download, type SearchResponse, type Status } from "../../Clients/JavaScript/pawl.js";

const pawl = new Pawl("https://pawl.example", { token: "secret", onStatus: ({ state, error, retryIn }: Status) => console.log(state, error?.message, retryIn ?? 0) });
const control = new AbortController();

export async function all(audio: HTMLAudioElement): Promise<void> {
	const { results }: SearchResponse = await pawl.search("prelude", { media: "music", session: "box", signal: control.signal });
	const id = results[0]?.id;
	if (!id) return;
	const download: Download = await pawl.add({ trackId: id }, { signal: control.signal });
	const stop: () => void = pawl.watch((downloads) => downloads.forEach(({ progress }) => console.log((progress ?? 0).toFixed(1))));
	for (const command of [pawl.pause, pawl.resume, pawl.cancel, pawl.retry]) console.log((await command(download.id)).state);
	audio.src = await pawl.fileURL(download.id);
	pawl.attach(audio, download.id, { signal: control.signal })();
	const stats = await pawl.request<{ scope: string }>("GET", "stats");
	console.log(stats.scope, (await pawl.fetch(download.links.file, { method: "HEAD" })).status);
	await pawl.remove(download.id, { deleteFile: true });
	stop();
}

// The shape that React's useSyncExternalStore takes.
declare function useSyncExternalStore<Snapshot>(subscribe: (onStoreChange: () => void) => () => void, getSnapshot: () => Snapshot): Snapshot;
export const names = (): (string | null)[] => useSyncExternalStore(pawl.subscribe, pawl.getSnapshot).map(({ filename }) => filename);

export function explain(error: unknown): string {
	if (error instanceof PawlError) return `${error.code} ${error.status} ${error.detail} ${error.retryAfter ?? 0} ${error.problem?.id}`;
	throw error;
}

const element: HTMLElement | null = document.querySelector("pawl-downloads");
element?.setAttribute("src", "https://pawl.example");

declare const one: Download;
// @ts-expect-error: lists and downloads are immutable
one.labels.push("a");
// @ts-expect-error: there is no such state
export const isDone = one.state === "done";
// @ts-expect-error: the name of a file may be unknown
export const length = one.filename.length;
// @ts-expect-error: there is no such member
pawl.add({ address: "https://example.org" });
// @ts-expect-error: a snapshot cannot be changed
pawl.getSnapshot().push(one);
