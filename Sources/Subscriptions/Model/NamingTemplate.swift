public import Catalog
internal import DownloadCore
internal import HTTPCore

/// Rules for the folder and the name of a part's file: texts with placeholders, such as `{artist}/{work}`.
///
/// A placeholder without a value takes along the text after it, up to the next placeholder. The last placeholder of a
/// name takes along the text before it. A pair of brackets counts as one placeholder, and has a value if one inside has
/// one. A name of a folder in which no placeholder has a value is left out.
public struct NamingTemplate: Sendable, Equatable {
    /// A fault of a template as written.
    public struct Fault: Error, Equatable {
        /// The faulty member: `folder` or `file`.
        public let member: String
        /// The end of a sentence about that member.
        public let reason: String
    }

    /// The folder as written; empty for the files directory itself, `nil` for the folder that the source suggests.
    public let folder: String?
    /// The file's name without its extension as written; `nil` for the name that the source suggests.
    public let file: String?
    private let folderNames: [NamePattern]
    private let fileName: NamePattern?

    /// Parses a template.
    /// - Throws: A fault if a placeholder is unknown or not well-formed, or the texts around the placeholders cannot be
    ///   in a folder or name.
    public init(folder: String?, file: String?) throws(Fault) {
        self.folder = folder
        self.file = file
        folderNames = try Self.parse(folder, "folder") { FileNaming.objection(toFolder: $0, called: "it") }
        fileName = try Self.parse(file, "file") { FileNaming.objection(to: $0, called: "it") }.first
    }

    private static func parse(
        _ text: String?, _ member: String, objection: (String) -> String?
    ) throws(Fault) -> [NamePattern] {
        guard let text else { return [] }
        let names: [NamePattern]
        do throws(NamePattern.Fault) {
            names = try NamePattern.parse(text)
        } catch {
            throw Fault(member: member, reason: error.description)
        }
        // With a letter for each placeholder, the text has to be one that a request may choose.
        let example = names.map { $0.text { _ in "x" } ?? "" }.joined(separator: "/")
        if let objection = objection(example) { throw Fault(member: member, reason: "is '\(text)'; \(objection)") }
        return names
    }

    /// Returns the folder of a part; `nil` if the source's suggestion holds, also since no placeholder has a value.
    public func folder(of part: SearchItem) -> String? {
        if folder == nil { return nil }
        let names = folderNames.compactMap { $0.text { Self.value(of: $0, part) } }
        return names.isEmpty && !folderNames.isEmpty ? nil : FileNaming.folder(of: names)
    }

    /// Returns the name of a part's file; `nil` if the source's suggestion holds, also since no placeholder has a value.
    ///
    /// It ends in the extension that the source suggests. It has none if the response decides the extension.
    public func filename(of part: SearchItem) -> String? {
        guard let name = fileName?.text({ Self.value(of: $0, part) }) else { return nil }
        let suffix = Self.suffix(of: part)
        return FileNaming.name(prefix: nil, title: name.dropping(suffix: suffix), suffix: suffix)
    }
}

// MARK: - Values

extension NamingTemplate {
    /// The maximum number of characters of a value that are used: more than a name can have.
    private static let longestValue = 400

    /// Returns the value of a placeholder; `nil` if the part has none, or no character of it may be in a name.
    private static func value(of placeholder: NamePattern.Placeholder, _ part: SearchItem) -> String? {
        let value: String? =
            switch placeholder.field {
            case .work: part.collection
            case .title: (part.name ?? part.suggestion?.title).map { $0.dropping(suffix: suffix(of: part)) }
            case .artist: part.artist
            case .number: part.number.map { padded($0, placeholder.width) }
            case .season: part.season.map { padded($0, placeholder.width) }
            case .date: day(of: part)
            case .year: year(of: part)
            case .id: part.id.map(shortID)
            }
        guard let value else { return nil }
        let beginning = String(String.UnicodeScalarView(value.unicodeScalars.prefix(longestValue)))
        return FileNaming.name(prefix: nil, title: beginning, suffix: "") == nil ? nil : beginning
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// The day of publication in UTC, such as `2026-11-21`. Some sources write only days, and some only years.
    private static func day(of part: SearchItem) -> String? {
        guard let date = part.releaseDate else { return nil }
        let time = Timestamp(parsing: date) ?? Timestamp(parsing: "\(date.prefix(10))T00:00:00Z")
        return (time?.description.prefix(10)).map(String.init)
    }

    private static func year(of part: SearchItem) -> String? {
        if let day = day(of: part) { return String(day.prefix(4)) }
        let digits = (part.releaseDate ?? "").prefix { $0.isASCII && $0.isNumber }
        return digits.utf8.count == 4 ? String(digits) : nil
    }

    /// Returns the part of an id that differs within a work: of an episode of a feed the digits of its key.
    private static func shortID(_ id: String) -> String {
        let mark = id.hasPrefix("feed:") ? UInt8(ascii: "#") : UInt8(ascii: ":")
        return id.utf8.split(separator: mark, omittingEmptySubsequences: false).last.map { String(Substring($0)) } ?? id
    }

    /// Returns the extension of a part's file with its dot; empty if it has none or the response decides it.
    private static func suffix(of part: SearchItem) -> String {
        guard let suggestion = part.suggestion, let suffix = suggestion.suffix else { return "" }
        return suffix.isEmpty ? String(FileNaming.split(suggestion.title).suffix) : suffix
    }
}
