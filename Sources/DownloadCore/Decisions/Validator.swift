package import HTTPCore

/// The proof that an origin still has the file of the partial bytes, byte for byte. It is the value of `If-Range`.
package enum Validator: Sendable, Equatable {
    /// A strong entity tag, as the origin spelled it.
    case entityTag(FieldValue)
    /// A strong modification date, as the origin spelled it.
    case lastModified(FieldValue)

    /// Creates the strongest validator of an entity. `nil` if it has none: bytes are then never appended to its bytes.
    package init?(of entity: SavedEntity) {
        if let etag = entity.etag, let parsed = EntityTag(parsing: etag.bytes[...]) {
            // RFC 9110 §13.1.5: a weak tag is not allowed, and a date is not allowed if there is a tag.
            guard !parsed.isWeak else { return nil }
            self = .entityTag(etag)
            return
        }
        // RFC 9110 §8.8.2.2: two versions made within one second may have the same date. A date is strong only if it is
        // well before the response's Date. The minute allows for clocks and disks that are coarser than a second.
        guard let lastModified = entity.lastModified, let modified = HTTPDate(parsing: lastModified.bytes[...]),
            let date = entity.date.flatMap({ HTTPDate(parsing: $0) }),
            date.secondsSinceEpoch - 60 >= modified.secondsSinceEpoch
        else { return nil }
        self = .lastModified(lastModified)
    }

    /// The value of `If-Range`.
    package var fieldValue: FieldValue {
        switch self {
        case .entityTag(let value), .lastModified(let value): value
        }
    }
}
