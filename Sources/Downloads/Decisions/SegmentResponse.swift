import HTTPCore

/// What the response to a request for one segment means: RFC 9110 §14 and §15.3.7. The file itself is known by then, from the response
/// to the first connection.
enum SegmentResponse: Sendable, Equatable {
    /// Its body is the segment, up to `end`, exclusively, which may be earlier than was asked for.
    case part(end: Int64)
    /// It is of another version of the file, or contradicts what is known: nothing that came can be trusted to belong together.
    case contradiction(String)
    /// It is the same file, whole: the origin does not do ranges, or not now.
    case whole
    /// There is nothing for now; the others may go on.
    case refusal(DownloadFailure)

    /// Evaluates the head of a response.
    /// - Parameters:
    ///   - range: what was asked for.
    ///   - entity: what the bytes have to be of.
    init(_ response: OriginResponse, range: Range<Int64>, entity: SavedEntity) {
        switch response.status {
        case 206:
            self = Self.evaluatePart(response, range, entity)
        case 200, 203:
            self = response.isWhole(of: entity) ? .whole : .contradiction("the file has changed")
        case 412, 416:
            self = .contradiction("the origin has nothing at bytes \(range.lowerBound) to \(range.upperBound - 1)")
        default:
            self = .refusal(.refusal(response))
        }
    }

    private static func evaluatePart(
        _ response: OriginResponse, _ range: Range<Int64>, _ entity: SavedEntity
    ) -> SegmentResponse {
        if let contradiction = response.contradiction(to: entity, from: range.lowerBound) { return .contradiction(contradiction) }
        guard let end = response.partRange?.bytes.upperBound, end <= range.upperBound else {
            return .contradiction("the part ends beyond what was asked for")
        }
        return .part(end: end)
    }
}
