internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON

/// Long polling: for clients that cannot follow an event stream.
extension API {
    /// The longest that a request may be held, in seconds.
    static let longestWait = 60
    /// The longest wait for the other replicas' changes before a version that is not known here is judged.
    private static let feedLimit: Duration = .seconds(1)

    /// Responds to `GET /downloads/{id}` once the resource is no longer what the client knows, or when the time is over.
    func waitForChange(
        of id: DownloadID, atMost seconds: Int, _ request: borrowing Request, _ caller: Caller
    ) -> RouteResult {
        let request = copy request
        return .later { [self] () throws(Problem) in
            let deadline = ContinuousClock.now + .seconds(seconds)
            // Wakes that come while nobody waits are kept, as one.
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
                    // Another replica may have sent the client a later version.
                    if response.status != .notModified {
                        try? await downloads.catchUp(within: Self.feedLimit)
                        continue
                    }
                }
                let now = ContinuousClock.now
                // A service that stops keeps nobody.
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
