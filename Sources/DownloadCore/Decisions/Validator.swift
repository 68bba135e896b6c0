package import HTTPCore

/// The origin's word that it still has the file of the partial bytes, byte for byte.
///
/// Servers make most tags from a time in seconds, so that two versions of one second may have the same tag and date. A
/// validator therefore counts only if the file was at least ``minimumAge`` old at the time of the response
/// (RFC 9110 §8.8.2.2). An equal overlap of bytes is the second proof (``ResumeDecision/overlap``).
package enum Validator: Sendable, Equatable {
    /// The minimum time in seconds between Last-Modified and Date.
    static let minimumAge: Int64 = 2

    /// A strong entity tag, as the origin spelled it.
    case entityTag(FieldValue)
    /// A modification date, as the origin spelled it.
    case lastModified(FieldValue)
    /// A modification date beside a tag that is weak or malformed. Both have to stay. RFC 9110 §13.1.5 allows neither of
    /// them in `If-Range`.
    case dateBesideTag

    /// Creates the strongest validator of an entity. `nil` if it has none: bytes are then never appended to its bytes.
    package init?(of entity: SavedEntity) {
        let age = entity.age
        if let etag = entity.etag, EntityTag(parsing: etag.bytes[...])?.isWeak == false {
            if let age, age < Self.minimumAge { return nil }
            self = .entityTag(etag)
            return
        }
        guard let lastModified = entity.lastModified, let age, age >= Self.minimumAge else { return nil }
        if entity.etag == nil {
            self = .lastModified(lastModified)
        } else if entity.total != nil {
            self = .dateBesideTag
        } else {
            return nil
        }
    }

    /// The value of `If-Range`; `nil` if the request has none, and the response's fields decide.
    package var fieldValue: FieldValue? {
        switch self {
        case .entityTag(let value), .lastModified(let value): value
        case .dateBesideTag: nil
        }
    }
}

extension SavedEntity {
    /// The seconds from Last-Modified to Date; `nil` without a valid value of both.
    fileprivate var age: Int64? {
        guard let modified = lastModified.flatMap({ HTTPDate(parsing: $0.bytes[...]) }),
            let sent = date.flatMap({ HTTPDate(parsing: $0) })
        else { return nil }
        return sent.secondsSinceEpoch - modified.secondsSinceEpoch
    }
}
