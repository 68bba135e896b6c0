internal import DownloadCore
internal import DownloadFiles
internal import HTTPClient
internal import HTTPCore

extension TransferAttempt {
    /// Lets mirrors replace the first source if it has failed and no connection runs. `MirrorTask` decides whether they
    /// fetch everything or the rest.
    /// - Returns: New connections to start.
    func tryMirrors(_ state: inout State) -> [SegmentConnection] {
        guard state.connections.isEmpty, !state.isCancelled, let failure = state.failure else { return [] }
        // A redirect may have announced mirrors before its target failed.
        if state.part == nil { adopt(state.announcement, known: saved.digest, &state) }
        return switch task(after: failure.failure, state) {
        case .nothing: []
        case .everything: replaceFirst(because: failure, &state)
        case .rest(let total): handOver(total, because: failure, &state)
        }
    }

    /// Returns the task of mirrors after a failure of the first source.
    func task(after failure: DownloadFailure, _ state: State) -> MirrorTask {
        let count = state.plan.written.byteCount
        return MirrorTask(
            after: failure,
            MirrorTask.Progress(
                hasBytes: count > 0, total: (state.entity ?? saved).total, isWhole: state.part != nil && state.plan.isWhole,
                isProven: isProven(state), usesOneStream: state.resume.usesOneStream,
                hasHandedOver: state.sources.isFirstRetired, isLastAttempt: parameters.isLastAttempt && count <= savedCount))
    }

    /// Lets the next source describe the file anew. Present bytes stay until its response has been accepted.
    private func replaceFirst(because failure: State.SourceFailure, _ state: inout State) -> [SegmentConnection] {
        let failed = state.sources.first
        guard let next = state.sources.replaceFirst() else { return [] }
        report(.warning("\(host(of: failed, state)) is of no use for \(parameters.id): \(failure.failure.message)"))
        state.isResumable = nil
        if state.part != nil {
            let url = state.requests[failed].url.string
            state.decided = .askAgain(state.resume.replace(url))
            return []
        }
        state.firstFailure = state.reportedFailure
        state.decided = nil
        state.lastFailure = nil
        _ = state.resume.askOtherSource()
        return [open(SegmentPlan.first, range: nil, source: next, &state)]
    }

    /// Lets mirrors bring the missing bytes, once in an attempt.
    ///
    /// Each mirror has to agree with the first source's description of the file, as it would beside that source. All
    /// bytes are verified at the end.
    private func handOver(
        _ total: Int64, because failure: State.SourceFailure, _ state: inout State
    ) -> [SegmentConnection] {
        guard state.sources.retireFirst() else { return [] }
        if state.part == nil {
            guard parameters.quota.reserve(total, for: parameters.id) else {
                state.decide(.awaitRoom(total))
                return []
            }
            do throws(FileError) {
                try acceptSaved(saved, total, &state)
            } catch {
                state.decide(.fileFailed(error))
                return []
            }
        }
        report(.warning("\(host(of: state.sources.first, state)) is of no use for \(parameters.id): \(failure.failure.message)"))
        state.isResumable = true
        state.firstFailure = state.reportedFailure
        state.decided = nil
        let openings = state.plan.goOnInRanges(total: total)
        progress.set(state.plan)
        return prepare(openings, &state)
    }

    /// Accepts the first source's description of the file from an earlier attempt, since it sent none in this one.
    private func acceptSaved(_ entity: SavedEntity, _ total: Int64, _ state: inout State) throws(FileError) {
        let part = try openPart(continuing: true)
        state.hasher.bind(to: part, holding: state.plan.written.prefix)
        try parameters.reservations.reserve(total, in: part, of: parameters.partFiles, for: parameters.id, counters: counters)
        state.part = part
        state.entity = entity
        state.sources.note(entity, of: state.sources.first)
        let written = state.plan.written
        report(.opened(part))
        report(
            .accepted(
                TransferAcceptance(
                    body: ResumeDecision.Body(offset: written.prefix, end: total, entity: entity, isResumable: true),
                    written: written, startedOver: false, isReplacement: false, partGeneration: part.generation, mediaType: nil,
                    contentDisposition: nil, announcedMirrors: announcedURLs(entity, state))))
    }
}
