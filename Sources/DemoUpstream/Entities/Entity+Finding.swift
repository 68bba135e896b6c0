internal import HTTPCore

/// Which edition of an entity is served, where a fault changes it.
struct Edition: Sendable, Equatable {
    /// 1 unless it changed.
    let version: Int
    let changesLength: Bool

    /// How many bytes longer than the first edition it is: some odd number for each change.
    var extra: Int64 { changesLength ? Int64(version - 1) * 4099 : 0 }
}

extension Entity {
    /// What a target names; nil if nothing.
    static func find(_ target: Target, edition: Edition, base: String, now: Int64) throws(Target.Invalid) -> Entity? {
        let segments = target.segments
        let (version, extra) = (edition.version, edition.extra)
        switch (segments.first, segments.count) {
        case ("search", 1): return .search(target.items, base: base)
        case ("lookup", 1): return .lookup(target.items, base: base)
        case ("posts", 1...2): return .posts(segments.dropFirst().first, version: version)
        case ("media", 2): return .preview(segments[1], version: version, extra: extra)
        case ("large", 2): return .large(segments[1], version: version, extra: extra)
        case ("artwork", 3): return .artwork(album: segments[1], file: segments[2], version: version)
        case ("entity", 1): return try .synthetic(target, version: version, extra: extra, now: now)
        default: return .page(segments)
        }
    }
}
