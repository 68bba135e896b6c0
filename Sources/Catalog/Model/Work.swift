/// A work as its source describes it: what it is, and all that may be had of it.
struct Work: Sendable {
    /// A part, and what decides whether it is selected.
    struct Part: Sendable {
        var found: FoundItem
        /// Where a file comes from; nil: the source has no formats.
        var source: WorkFormat.Source?
        /// The number that the part brings along; nil: none.
        var track: Int?
        /// Whether it is selected where nobody names a format.
        var isStandard = true

        init(_ item: SearchItem) {
            found = FoundItem(item)
        }
    }

    /// Parts in order and numbered, and all formats that there are.
    typealias Selection = (parts: [FoundItem], formats: [WorkFormat])

    let of: FoundItem
    /// Those that may be had, in order.
    let parts: [Part]
    /// Why there are fewer than there might be, or none, as a sentence's end; nil: nothing is kept back.
    private let restriction: String?
    /// What is selected where nobody names a format, which is asked for most; nil: nothing.
    private var standard: Selection?

    init(_ item: SearchItem, parts: [Part], restriction: String? = nil) {
        of = FoundItem(item)
        self.parts = parts
        self.restriction = restriction
        standard = try? select([])
    }

    /// The bytes it takes in memory beside its items' own.
    var cost: Int {
        parts.reduce(of.cost) { $0 + $1.found.cost } + parts.count * MemoryLayout<Part>.stride
            + (standard?.parts.count ?? 0) * MemoryLayout<FoundItem>.stride
    }
}

/// A format that parts of a work come in.
public struct WorkFormat: Sendable, Equatable {
    /// Who made the files.
    public enum Source: String, Sendable {
        /// Whoever put the work there.
        case original
        /// The source, from an original.
        case derivative
    }

    /// In the source's words.
    public let name: String
    /// How many parts come in it.
    public internal(set) var count: Int
    /// Their bytes altogether; nil if the size of one is unknown.
    public internal(set) var bytes: Int64?
    /// Who made them.
    public let source: Source
    /// Whether parts in it are selected.
    public internal(set) var isSelected: Bool
}

extension Work {
    /// The parts in the formats that are asked for, in order and numbered, and all formats that there are. Throws
    /// ``CatalogError/invalidRequest(_:)`` for a format that there is not, and ``CatalogError/notFound(_:)`` if nothing is selected.
    func select(_ asked: [String]) throws(CatalogError) -> Selection {
        if asked.isEmpty, let standard { return standard }
        let wanted = asked.map { $0.lowercased() }
        for (format, text) in zip(wanted, asked) where !Self.groups.contains(format) && !has(format) {
            let names = SearchParameter.withoutRepeats(Self.groups + parts.compactMap(\.found.item.format)).prefix(
                Self.mostFormats)
            throw .invalidRequest(
                "the format \(SearchParameter.quoted(text)) is none that \(of.item.id ?? "the work") has; "
                    + "it takes \(SearchParameter.list(Array(names)))")
        }
        var selected: [Part] = []
        var formats: [WorkFormat] = []
        var places: [String: Int] = [:]
        for part in parts {
            let isSelected = wanted.isEmpty ? part.isStandard : wanted.contains { part.isMeant(by: $0) }
            if isSelected { selected.append(part) }
            guard let source = part.source, let name = part.found.item.format else { continue }
            let place = places["\(source) \(name)"] ?? formats.count
            if place == formats.count {
                if place == Self.mostFormats { continue }
                places["\(source) \(name)"] = place
                formats.append(WorkFormat(name: name, count: 0, bytes: 0, source: source, isSelected: false))
            }
            formats[place].count += 1
            formats[place].bytes = Self.sum(formats[place].bytes, part.found.item.bytes)
            formats[place].isSelected = formats[place].isSelected || isSelected
        }
        if selected.isEmpty { throw nothing(formats) }
        formats = formats.filter { $0.source == .original } + formats.filter { $0.source == .derivative }
        return (Self.numbered(selected), formats)
    }

    /// The most formats that are listed.
    private static let mostFormats = 200

    /// Names of groups of formats.
    private static let groups = ["original", "all"]

    private func has(_ format: String) -> Bool {
        parts.contains { $0.found.item.format?.lowercased() == format }
    }

    private static func sum(_ first: Int64?, _ second: Int64?) -> Int64? {
        guard let first, let second else { return nil }
        let (sum, overflows) = first.addingReportingOverflow(second)
        return overflows ? nil : sum
    }

    private func nothing(_ formats: [WorkFormat]) -> CatalogError {
        let id = SearchParameter.quoted(of.item.id ?? "")
        if !formats.isEmpty {
            let names = SearchParameter.withoutRepeats(formats.map(\.name)).joined(separator: ", ")
            let why = restriction.map { ": \($0)" } ?? ""
            return .notFound("nothing of \(id) is selected\(why); there is only what has to be asked for by its format: \(names)")
        }
        return .notFound("there is nothing to be had of \(id): \(restriction ?? "it has no parts")")
    }

    /// By the numbers that they bring along if each has one of its own; parts without a number of their own get their place.
    private static func numbered(_ parts: [Part]) -> [FoundItem] {
        var parts = parts
        let tracks = Set(parts.compactMap(\.track))
        if tracks.count == parts.count { parts.sort { ($0.track ?? 0) < ($1.track ?? 0) } }
        return parts.enumerated().map { index, part in
            var found = part.found
            if found.item.number == nil { found.item.number = index + 1 }
            return found
        }
    }
}

extension Work.Part {
    /// Whether a format in lowercase, or the name of a group of them, means this part.
    fileprivate func isMeant(by format: String) -> Bool {
        switch format {
        case "all": true
        case "original": source != .derivative
        default: found.item.format?.lowercased() == format
        }
    }
}
