internal import DownloadCore
internal import DownloadFiles
internal import HTTPClient
internal import System

/// The ranges of a placed piece: its bytes are written where they are missing, and compared where they are present.
struct PlacedPiece {
    /// The bytes that belong to the connection's segment.
    let own: Range<Int64>
    /// The bytes to write.
    let missing: [Range<Int64>]
    /// The bytes to compare. Present bytes are not written again: they are the bytes that have been hashed.
    let present: [Range<Int64>]
    /// The bytes beside the segment that another connection has not brought yet.
    let uncompared: [Range<Int64>]
    private let start: Int64

    init(_ placement: SegmentPlan.Placement, _ written: Coverage) {
        start = placement.offset
        own = placement.own
        let whole = start..<start + Int64(placement.count)
        missing = written.gaps(in: own)
        let isNew = missing.first == whole
        present = isNew ? [] : written.present(in: whole)
        uncompared =
            isNew ? [] : written.gaps(in: start..<own.lowerBound) + written.gaps(in: own.upperBound..<whole.upperBound)
    }

    /// Returns the place of a range's bytes in the piece.
    func place(of range: Range<Int64>) -> Range<Int> {
        let offset = Int(range.lowerBound - start)
        return offset..<offset + range.count
    }
}

/// The comparison of received bytes with present ones, and of first bytes with what a head has announced.
extension TransferAttempt {
    /// The number of first bytes that show whether a body is a page.
    static let pageLength = 1_024

    /// Whether the first bytes of a response have to show what it is: it has a page's type, or may be empty.
    func needsBytes(_ response: OriginResponse, on connection: SegmentConnection, _ state: State) -> Bool {
        if state.expectation.failure(for: response) != nil { return true }
        guard connection.range == nil, [200, 203].contains(response.status) else { return false }
        return response.contentLength == nil && state.resume.hadBytes || state.resume.repeatedBytes(in: response) != nil
    }

    /// Whether a response with status 200 brings the requested range, and not the file from its start, by its first bytes.
    func isTail(_ response: OriginResponse, _ beginning: [UInt8]?, _ state: State) -> Bool {
        guard let beginning, !beginning.isEmpty, let part = parameters.part,
            let repeated = state.resume.repeatedBytes(in: response)
        else { return false }
        let first = unsafe beginning.span.bytes.extracting(first: min(beginning.count, repeated.count))
        return (try? part.holds(first, at: repeated.lowerBound)) ?? false
    }

    /// Returns the head of a connection that waits for its first bytes; `nil` if there is none.
    func takeHeld(_ connection: SegmentConnection) -> ClientResponseHead? {
        state.withLock { $0.held.isEmpty ? nil : $0.held.removeValue(forKey: connection.number) }
    }

    /// Handles bytes of a connection that differ from present ones.
    func differs(at offset: Int64, on connection: SegmentConnection) {
        state.withLock { state in
            let segment = state.plan.segments[connection.number]
            guard state.decided == nil,
                connection.source == state.sources.first || segment.map({ $0.position > $0.start }) ?? false
            else {
                // A mirror has brought nothing yet, so only the mirror is wrong.
                state.refusals[connection.number] = DownloadFailure(
                    .entityChanged, "its bytes at \(offset) are not those of the file")
                return
            }
            decide(state.resume.differs(at: offset), &state)
        }
    }

    /// Compares bytes that connections have brought of their neighbours' segments, and that are there now.
    func compareLate(_ state: inout State) {
        guard let part = state.part else { return }
        for late in state.plan.takeComparable() {
            guard let holds = unsafe try? part.holds(late.bytes.span.bytes, at: late.offset), holds else {
                return decide(state.resume.differs(at: late.offset), &state)
            }
        }
    }

    /// Makes a verdict that brings no body the outcome.
    func decide(_ verdict: ResumeDecision.Verdict, _ state: inout State) {
        switch verdict {
        case .askAgain(let ask): state.decide(.askAgain(ask))
        case .fail(let failure): state.fail(failure)
        case .complete: state.decide(.whole)
        case .append, .restart: break
        }
    }
}
