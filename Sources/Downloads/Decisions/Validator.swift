import HTTPCore

/// What proves, byte for byte, that an origin still has the file that the partial bytes came from: the value of `If-Range`.
enum Validator: Sendable, Equatable {
    /// A strong entity tag, as the origin spelled it.
    case entityTag(FieldValue)
    /// A strong modification date, as the origin spelled it.
    case lastModified(FieldValue)

    /// The strongest validator of an entity; `nil` if it has none, which means that its bytes are never appended to.
    init?(of entity: SavedEntity) {
        if let etag = entity.etag, let parsed = EntityTag(parsing: etag.bytes[...]) {
            // RFC 9110 §13.1.5: no weak tag, and no date where there is a tag.
            guard !parsed.isWeak else { return nil }
            self = .entityTag(etag)
            return
        }
        // RFC 9110 §8.8.2.2: a date may be the same for two versions made in one second, unless it lies well before the time
        // it was told. Clocks and disks that are coarser than a second make it a minute.
        guard let lastModified = entity.lastModified, let modified = HTTPDate(parsing: lastModified.bytes[...]),
            let date = entity.date.flatMap({ HTTPDate(parsing: $0) }),
            date.secondsSinceEpoch - 60 >= modified.secondsSinceEpoch
        else { return nil }
        self = .lastModified(lastModified)
    }

    /// What `If-Range` says.
    var fieldValue: FieldValue {
        switch self {
        case .entityTag(let value), .lastModified(let value): value
        }
    }
}
