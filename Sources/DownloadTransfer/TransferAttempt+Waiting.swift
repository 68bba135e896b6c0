internal import DownloadCore
internal import System

/// Long waits for an origin.
extension TransferAttempt {
    /// Returns the length that a connection's wait may have although it has exceeded its limit; `nil`: it ends.
    package func extendedLimit(of connection: SegmentConnection) -> Duration? {
        let hasHead = connection.hasHead
        return state.withLock { state -> Duration? in
            guard !state.isCancelled, state.decided == nil else { return nil }
            // Another connection for the same range loses nothing.
            let isForSegment = connection.range != nil && !hasHead
            return parameters.patience.extendedLimit(
                of: Patience.Wait(
                    hasHead: hasHead, isResumable: isForSegment ? true : state.isResumable,
                    hasBytes: state.plan.written.byteCount > 0, hasSubstitute: hasSubstitute(state)))
        }
    }

    /// Whether mirrors can bring the missing bytes, and all present ones stay.
    private func hasSubstitute(_ state: State) -> Bool {
        guard state.sources.hasOthers else { return false }
        return switch task(after: DownloadFailure(.timedOut, "the origin does not send"), state) {
        case .nothing: false
        case .rest: true
        case .everything: state.plan.written.byteCount == 0
        }
    }
}
