internal import HTTPClient

extension TransferAttempt {
    /// If the first source has failed and nothing else runs, mirrors take its place: one as the first, if there is nothing that only the
    /// old one could continue, and otherwise for the rest of the file.
    func tryMirrors(_ state: inout State) -> [SegmentConnection] {
        guard state.connections.isEmpty, !state.isCancelled, let trouble = state.failure else { return [] }
        let standing = MirrorTask.Standing(
            hasBegun: state.part != nil || state.plan.written.byteCount > 0, total: (state.entity ?? saved).total,
            isWhole: state.plan.isWhole, usesOneStream: state.resume.usesOneStream, hasHandedOver: state.handedOver != nil)
        return switch MirrorTask(after: trouble.failure.code, standing) {
        case .nothing: []
        case .everything: replaceFirst(because: trouble, &state)
        case .rest(let total): handOver(total, because: trouble, &state)
        }
    }

    private func replaceFirst(because trouble: State.Trouble, _ state: inout State) -> [SegmentConnection] {
        let failed = state.sources.first
        guard let next = state.sources.replaceFirst() else { return [] }
        report(.warning("\(host(of: failed)) is of no use for \(order.id): \(trouble.failure.message)"))
        state.decided = nil
        state.trouble = nil
        let connection = SegmentConnection(number: SegmentPlan.first, range: nil, source: next, of: self)
        state.connections[connection.number] = connection
        return [connection]
    }

    /// Has mirrors bring what is missing, once in an attempt. Each has to agree with what the first source said of the file, as it would
    /// beside it; the last word on the bytes has the checksum.
    private func handOver(_ total: Int64, because trouble: State.Trouble, _ state: inout State) -> [SegmentConnection] {
        guard state.sources.retireFirst() else { return [] }
        if state.part == nil {
            do throws(FileError) {
                try acceptSaved(saved, total, &state)
            } catch {
                state.decided = .failed(DownloadFailure(error), retryAfter: nil)
                return []
            }
        }
        report(.warning("\(host(of: state.sources.first)) is of no use for \(order.id): \(trouble.failure.message)"))
        state.handedOver = trouble
        state.decided = nil
        return prepare(state.plan.goOnInRanges(total: total), &state)
    }

    /// The first source said nothing in this attempt: what it said in an earlier one holds.
    private func acceptSaved(_ entity: SavedEntity, _ total: Int64, _ state: inout State) throws(FileError) {
        let part = try partFile(state.plan)
        state.hasher.bind(to: part, holding: state.plan.written.prefix)
        try order.reservations.reserve(total, in: part, for: order.id, counters: counters)
        state.part = part
        state.entity = entity
        state.sources.note(entity, of: state.sources.first)
        let written = state.plan.written
        report(
            .accepted(
                TransferReport.Accepted(
                    body: ResumeDecision.Body(offset: written.prefix, end: total, entity: entity, isResumable: true),
                    written: written,
                    startedOver: false, part: part, isReplacement: false, mediaType: nil, contentDisposition: nil)))
    }
}
