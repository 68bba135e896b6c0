internal import DownloadCore
internal import DownloadIndex
internal import Downloads
internal import HTTPCore
internal import HTTPServer

/// Long polling, for clients that cannot read an event stream.
extension API {
    /// The maximum duration of a wait, in seconds.
    static let longestWait = 60
    /// The maximum wait for other replicas' changes, if the client's version differs from this replica's.
    private static let feedLimit: Duration = .seconds(1)

    /// Responds to `GET /downloads/{id}` once the resource differs from the client's version, or after `seconds`.
    func waitForChange(
        of id: RecordID, atMost seconds: Int, _ request: borrowing Request, _ caller: Caller
    ) -> RouteResult {
        let request = copy request
        return .later { [self] () throws(Problem) in
            let deadline = ContinuousClock.now + .seconds(seconds)
            // Wakes between two waits are kept, merged into one.
            let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let subscription = downloads.events.subscribe(
                scope: id, after: nil, interval: .milliseconds(250), wake: { wake.yield() })
            defer { subscription.cancel() }
            var iterator = wakes.makeAsyncIterator()
            var mayBeBehind = downloads.isShared
            while true {
                var response = Response()
                guard !caller.isRevoked else { throw Problem(.unauthorized, "the token was revoked while the request waited") }
                try fill(&response, withDownload: id, for: request, of: caller)
                if mayBeBehind {
                    mayBeBehind = false
                    // Another replica may have sent a later version to the client.
                    if response.status != .notModified {
                        try? await downloads.catchUp(within: Self.feedLimit)
                        continue
                    }
                }
                let now = ContinuousClock.now
                // A service that stops ends all waits.
                if response.status != .notModified || now >= deadline || Task.isCancelled || !condition.isReady {
                    return response
                }
                let due = min(deadline, subscription.nextDue(now: now) ?? deadline, now + .seconds(1))
                let timer = Task {
                    try? await Task.sleep(until: due, clock: .continuous)
                    wake.yield()
                }
                await withTaskCancellationHandler {
                    await iterator.next()
                } onCancel: {
                    wake.yield()
                }
                timer.cancel()
            }
        }
    }
}
