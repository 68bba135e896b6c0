package import DownloadCore

/// The meaning of a response to a request for one segment: RFC 9110 §14 and §15.3.7.
///
/// The response to the first connection has described the file by then.
package enum SegmentResponse: Sendable, Equatable {
    /// The body is the segment up to `end`, exclusively. `end` may be earlier than requested.
    case part(end: Int64)
    /// The response is of another version of the file, or contradicts what is known. The received bytes
    /// may not belong together.
    case contradiction(String)
    /// The response is the same file as a whole: the origin sends no ranges, or not now.
    case whole
    /// The response brings no bytes for now. Other connections may continue.
    case refusal(DownloadFailure)

    /// Evaluates the head of a response.
    /// - Parameters:
    ///   - range: The requested bytes.
    ///   - entity: The entity that the bytes must belong to.
    package init(_ response: OriginResponse, range: Range<Int64>, entity: SavedEntity) {
        switch response.status {
        case 206:
            self = Self.evaluatePart(response, range, entity)
        case 200, 203:
            // The whole file has the length that the first response announced.
            let part = response.contentLength == nil ? "a 200 without a length" : nil
            if let reason = response.partialContent(of: entity, requested: range) ?? part {
                self = .refusal(
                    DownloadFailure(.transferBroken, "the origin answered a range with \(reason)", httpStatus: response.status))
            } else {
                self = response.isWhole(of: entity) ? .whole : .contradiction("the file has changed")
            }
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
