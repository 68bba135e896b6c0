// Uses the generated client in TypeScript: `client.ts ADDRESS TOKEN ORIGIN` prints "done".
import {
    Configuration, type Download, DownloadsApi, EventsApi, ResponseError, SearchApi, ServiceApi, State, SubscriptionsApi, WaitingReason,
} from "./index";

const [basePath, accessToken, origin] = Deno.args;
const configuration = new Configuration({ basePath, accessToken });
const downloads = new DownloadsApi(configuration);

function check(condition: boolean, what: string): void {
    if (!condition) throw new Error(what);
}

async function ended(id: string): Promise<Download> {
    for (let tag: string | undefined; ;) {
        try {
            const answer = await downloads.getDownloadRaw({ id, wait: 5, ifNoneMatch: tag }, { signal: AbortSignal.timeout(60_000) });
            const download = await answer.value();
            if (download.completedAt || download.error) return download;
            tag = answer.raw.headers.get("ETag") ?? undefined;
        } catch (error) {
            if (!(error instanceof ResponseError && error.response.status === 304)) throw error;
        }
    }
}

const made = await downloads.addDownload({
    downloadRequest: { url: origin + "/file", labels: ["one"], headers: { "X-Example": "arrives" }, timeouts: { stall: 60 } },
});
check(made.labels[0] === "one" && made.timeouts?.stall === 60, "the members arrive");
const waits: WaitingReason | null = made.waitingFor;
check(waits === null || waits === WaitingReason.Turn, "it waits for nothing else");
const done = await ended(made.id);
check(done.state === State.Completed && done.completedAt instanceof Date, "it is completed");
check((await downloads.getFile({ id: made.id })).size === done.bytesTotal, "the file is whole");
check((await downloads.listDownloads({ label: "one", state: [State.Completed, State.Failed] })).total === 1, "it is listed");

const several = await downloads.addDownloads({ batchRequest: { downloads: [{ url: origin + "/slow" }] } });
const slow = several.items[0].download!;
check((await downloads.pauseDownload({ id: slow.id })).state === State.Paused, "it pauses");
// A stream never ends: its body is read in pieces.
const { raw } = await new EventsApi(configuration).followDownloadsRaw({}, { signal: AbortSignal.timeout(60_000) });
const reader = raw.body!.getReader();
check(new TextDecoder().decode((await reader.read()).value).includes("event: snapshot"), "the stream begins with a snapshot");
await reader.cancel();

const { sources } = await new SearchApi(configuration).listSources();
check(sources[0].parameters.some(each => each.values?.includes("song")), "the sources have values");
const service = new ServiceApi(configuration);
check((await service.changeSettings({ settingsChange: { maxConcurrent: 2 } })).maxConcurrent === 2, "a setting changes");
const subscriptions = new SubscriptionsApi(configuration);
const show = await subscriptions.subscribe({ subscriptionRequest: { feedUrl: origin + "/feed.xml", take: { latest: 1 } } });
check(typeof show.take === "object" && show.take.latest === 1 && show.source.partsOf !== undefined, "the choice arrives");
const outlines = await subscriptions.exportSubscriptions();
check((await subscriptions.importSubscriptions({ body: outlines })).items[0].status === 200, "the list is known");
await downloads.removeDownload({ id: made.id, deleteFile: true });
const gone = await downloads.getDownload({ id: made.id }).catch(error => error);
check(gone instanceof ResponseError && gone.response.status === 404, "it is gone");
console.log("done");
