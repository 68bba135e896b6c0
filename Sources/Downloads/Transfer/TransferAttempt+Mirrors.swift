internal import HTTPClient

extension TransferAttempt {
    /// If the first source has failed and nothing else runs, mirrors take its place: one as the first, if there is nothing that only the
    /// old one could continue, and otherwise for the rest of the file.
    func tryMirrors(_ state: inout State) -> [SegmentConnection] {
        guard state.connections.isEmpty, !state.isCancelled, let trouble = state.failure else { return [] }
        switch trouble.failure.code {
        // Nobody else could do anything about these.
        case .ioError, .insufficientStorage: return []
        default: break
        }
        return state.part == nil && state.plan.written.byteCount == 0
            ? replaceFirst(because: trouble, &state) : handOver(because: trouble, &state)
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
    private func handOver(because trouble: State.Trouble, _ state: inout State) -> [SegmentConnection] {
        let entity = state.entity ?? saved
        guard let total = entity.total, !state.plan.isWhole, state.handedOver == nil, trouble.failure.code != .entityChanged,
            !state.resume.usesOneStream, state.sources.retireFirst()
        else { return [] }
        if state.part == nil {
            do throws(FileError) {
                try acceptSaved(entity, total, &state)
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
        let part = try PartFile(path: order.directory.part(order.id), truncating: false)
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
