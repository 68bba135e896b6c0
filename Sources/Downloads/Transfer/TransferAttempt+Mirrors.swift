internal import HTTPClient
internal import HTTPCore

extension TransferAttempt {
    /// If the first source has failed and nothing else runs, mirrors take its place, for everything or for the rest, as `MirrorTask` says.
    func tryMirrors(_ state: inout State) -> [SegmentConnection] {
        guard state.connections.isEmpty, !state.isCancelled, let failure = state.failure else { return [] }
        let count = state.plan.written.byteCount
        let progress = MirrorTask.Progress(
            hasBytes: count > 0, total: (state.entity ?? saved).total, isWhole: state.part != nil && state.plan.isWhole,
            isProven: isProven(state), usesOneStream: state.resume.usesOneStream,
            hasHandedOver: state.sources.isFirstRetired, isLastAttempt: order.isLastAttempt && count <= savedCount)
        return switch MirrorTask(after: failure.failure, progress) {
        case .nothing: []
        case .everything: replaceFirst(because: failure, &state)
        case .rest(let total): handOver(total, because: failure, &state)
        }
    }

    /// Has the next source say anew what the file is. Bytes that are there stay until its response has been accepted.
    private func replaceFirst(because failure: State.SourceFailure, _ state: inout State) -> [SegmentConnection] {
        let failed = state.sources.first
        guard let next = state.sources.replaceFirst() else { return [] }
        report(.warning("\(host(of: failed)) is of no use for \(order.id): \(failure.failure.message)"))
        if state.part != nil {
            let url = order.sources[failed].url.string
            state.decided = .askAgain(state.resume.replace(url, keeping: state.plan.written))
            return []
        }
        state.firstFailure = state.reportedFailure
        state.decided = nil
        state.lastFailure = nil
        _ = state.resume.askOtherSource()
        let connection = SegmentConnection(number: SegmentPlan.first, range: nil, source: next, of: self)
        open(connection, &state)
        return [connection]
    }

    /// Has mirrors bring what is missing, once in an attempt. Each has to agree with what the first source said of the file, as it would
    /// beside it; the bytes are verified when all are there.
    private func handOver(
        _ total: Int64, because failure: State.SourceFailure, _ state: inout State
    ) -> [SegmentConnection] {
        guard state.sources.retireFirst() else { return [] }
        if state.part == nil {
            guard order.quota.claim(total, for: order.id) else {
                state.decide(.awaitRoom(total))
                return []
            }
            do throws(FileError) {
                try acceptSaved(saved, total, &state)
            } catch {
                state.fail(DownloadFailure(error))
                return []
            }
        }
        report(.warning("\(host(of: state.sources.first)) is of no use for \(order.id): \(failure.failure.message)"))
        state.firstFailure = state.reportedFailure
        state.decided = nil
        let openings = state.plan.goOnInRanges(total: total)
        progress.set(state.plan.written)
        return prepare(openings, &state)
    }

    /// The first source said nothing in this attempt: what it said in an earlier one holds.
    private func acceptSaved(_ entity: SavedEntity, _ total: Int64, _ state: inout State) throws(FileError) {
        let part = try openPart(continuing: true)
        state.hasher.bind(to: part, holding: state.plan.written.prefix)
        try order.reservations.reserve(total, in: part, for: order.id, counters: counters)
        state.part = part
        state.entity = entity
        state.sources.note(entity, of: state.sources.first)
        let written = state.plan.written
        report(
            .accepted(
                TransferReport.Acceptance(
                    body: ResumeDecision.Body(offset: written.prefix, end: total, entity: entity, isResumable: true),
                    written: written, startedOver: false, isReplacement: false, partGeneration: part.generation, mediaType: nil,
                    contentDisposition: nil), part))
    }
}
