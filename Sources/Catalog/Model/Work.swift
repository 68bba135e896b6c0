/// A work as its source describes it, with all available parts.
struct Work: Sendable {
    /// A part, and the properties that decide whether it is selected.
    struct Part: Sendable {
        var found: FoundItem
        /// The origin of the file; `nil` if the source has no formats.
        var source: WorkFormat.Source?
        /// The part's own number; `nil` if it has none.
        var track: Int?
        /// Whether it is selected if the request names no formats.
        var isStandard = true

        init(_ item: SearchItem) {
            found = FoundItem(item, keepsTexts: false)
        }
    }

    /// Parts in order and numbered, and all available formats.
    typealias Selection = (parts: [FoundItem], formats: [WorkFormat])

    let of: FoundItem
    /// The available parts, in order.
    let parts: [Part]
    /// The reason why parts are missing, as the end of a sentence; `nil` if none are.
    private let restriction: String?
    /// The faults of the response despite which it was read, in sentences.
    let warnings: [String]
    /// Whether parts without a number get their positions as numbers.
    private let isNumbered: Bool
    /// The selection without named formats, which is requested most; `nil` if it is empty.
    private var standard: Selection?

    init(
        _ item: SearchItem, parts: [Part], restriction: String? = nil, warnings: [String] = [], isNumbered: Bool = true
    ) {
        of = FoundItem(item)
        self.parts = parts
        self.restriction = restriction
        self.warnings = warnings
        self.isNumbered = isNumbered
        standard = try? select([])
    }

    /// The bytes in memory in addition to the items themselves.
    var cost: Int {
        parts.reduce(of.cost) { $0 + $1.found.cost } + parts.count * MemoryLayout<Part>.stride
            + (standard?.parts.count ?? 0) * MemoryLayout<FoundItem>.stride
    }
}

/// A format of parts of a work.
public struct WorkFormat: Sendable, Equatable {
    /// The origin of files.
    public enum Source: String, Sendable {
        /// The uploader of the work.
        case original
        /// The source, which derived the file from an original.
        case derivative
    }

    /// The name in the source's words.
    public let name: String
    /// The number of parts in this format.
    public internal(set) var count: Int
    /// Their total size in bytes; `nil` if the size of any is unknown.
    public internal(set) var bytes: Int64?
    /// The origin of the files.
    public let source: Source
    /// Whether parts in this format are selected.
    public internal(set) var isSelected: Bool
}

extension Work {
    /// Selects the parts in the requested formats, in order and numbered, and lists all available formats.
    /// - Throws: ``CatalogError/invalidRequest(_:)`` for a format that the work does not have, and
    ///   ``CatalogError/notFound(_:)`` if nothing is selected.
    func select(_ requested: [String]) throws(CatalogError) -> Selection {
        if requested.isEmpty, let standard { return standard }
        let wanted = requested.map { $0.lowercased() }
        for (format, text) in zip(wanted, requested) where !Self.groups.contains(format) && !has(format) {
            let names = SearchParameter.withoutRepeats(Self.groups + parts.compactMap(\.found.item.format)).prefix(
                Self.maximumFormats)
            throw .invalidRequest(
                "\(of.item.id ?? "the work") has no format \(SearchParameter.quoted(text)); "
                    + "it takes \(SearchParameter.list(Array(names)))")
        }
        // Items are large: until the end, their positions stand for them.
        var selected: [Int] = []
        var formats: [WorkFormat] = []
        var indices: [String: Int] = [:]
        for position in parts.indices {
            let isSelected = wanted.isEmpty ? parts[position].isStandard : wanted.contains { parts[position].isMeant(by: $0) }
            if isSelected { selected.append(position) }
            guard let source = parts[position].source, let name = parts[position].found.item.format else { continue }
            let index = indices["\(source) \(name)"] ?? formats.count
            if index == formats.count {
                if index == Self.maximumFormats { continue }
                indices["\(source) \(name)"] = index
                formats.append(WorkFormat(name: name, count: 0, bytes: 0, source: source, isSelected: false))
            }
            formats[index].count += 1
            formats[index].bytes = Self.sum(formats[index].bytes, parts[position].found.item.bytes)
            formats[index].isSelected = formats[index].isSelected || isSelected
        }
        if selected.isEmpty { throw nothing(formats) }
        formats = formats.filter { $0.source == .original } + formats.filter { $0.source == .derivative }
        return (isNumbered ? Self.numbered(selected.map { parts[$0] }) : selected.map { parts[$0].found }, formats)
    }

    /// The maximum number of listed formats.
    private static let maximumFormats = 200

    /// The names of groups of formats.
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
            let reason = restriction.map { ": \($0)" } ?? ""
            return .notFound("no part of \(id) is selected by default\(reason); select parts by their format: \(names)")
        }
        return .notFound("no part of \(id) is available: \(restriction ?? "it has no parts")")
    }

    /// The parts with numbers: their own if all differ, otherwise their positions for parts without a number.
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
    /// Whether a format in lower case, or the name of a group, includes this part.
    fileprivate func isMeant(by format: String) -> Bool {
        switch format {
        case "all": true
        case "original": source != .derivative
        default: found.item.format?.lowercased() == format
        }
    }
}
