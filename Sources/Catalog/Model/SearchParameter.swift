import HTTPCore

/// A query parameter of a source, used for validation and for the description of the sources.
struct SearchParameter: Sendable {
    /// The accepted values.
    enum Accepted: Sendable {
        /// A text of at most this many characters (Unicode scalars), not blank, without control characters.
        case text(maximumLength: Int)
        /// An address of http or https, without user and password.
        case address
        /// One of these values, spelled exactly like this.
        case values([String])
        /// One of these codes, in any case.
        case countries([String])
        /// One of the values for the given `media`; without `media`, any of them.
        case valuesByMedia([MediaValues])
        /// A whole number in this range.
        case number(ClosedRange<Int>)
    }

    /// The accepted values for one value of `media`.
    struct MediaValues: Sendable {
        let media: String
        let values: [String]
    }

    let name: String
    let summary: String
    let accepted: Accepted
    var isRequired = false
    /// The value in effect if the parameter is absent, as clients would write it; `nil` if there is none or the source
    /// decides.
    var standard: String?
}

extension SearchParameter {
    /// Checks a value, and returns its canonical spelling. Throws an error with parameter, value and accepted values.
    func check(_ value: String, media: String?) throws(CatalogError) -> String {
        switch accepted {
        case .text(let maximumLength):
            if value.unicodeScalars.allSatisfy(\.properties.isWhitespace) { throw refusal(of: value, accepting: taken) }
            if value.unicodeScalars.count > maximumLength { throw refusal(of: value, accepting: taken) }
            if value.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                throw refusal(of: value, accepting: taken)
            }
            return value
        case .address:
            guard let url = FeedSource.address(value) else { throw refusal(of: value, accepting: taken) }
            return url.string
        case .values(let values):
            return try one(of: values, value: value)
        case .countries(let codes):
            let code = value.uppercased()
            if codes.contains(code) { return code }
            throw refusal(of: value, accepting: taken)
        case .valuesByMedia(let table):
            guard let media else {
                let all = table.flatMap(\.values)
                if all.contains(value) { return value }
                throw refusal(of: value, accepting: taken)
            }
            let values = table.first { $0.media == media }?.values ?? []
            if values.isEmpty {
                throw .invalidRequest("the query parameter '\(name)' is not accepted with media '\(media)'")
            }
            if values.contains(value) { return value }
            throw refusal(of: value, accepting: Self.list(values) + " with media '\(media)'")
        case .number(let range):
            // Digits only: `Int("+5")` is 5, an undocumented spelling.
            if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let number = Int(value), range.contains(number)
            {
                return String(number)
            }
            throw refusal(of: value, accepting: taken)
        }
    }

    /// The accepted values, as the end of "it takes …".
    var taken: String {
        switch accepted {
        case .text(let maximumLength):
            "a text of 1 to \(maximumLength) characters that is not blank and has no control characters"
        case .address:
            "an http or https URL of at most \(FeedSource.longestAddress) bytes, without user and password"
        case .values(let values): Self.list(values)
        case .countries: "an ISO 3166-1 alpha-2 code such as US, GB or JP"
        case .valuesByMedia(let table): Self.list(Self.withoutRepeats(table.flatMap(\.values)))
        case .number(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        }
    }

    private func one(of values: [String], value: String) throws(CatalogError) -> String {
        if values.contains(value) { return value }
        throw refusal(of: value, accepting: taken)
    }

    private func refusal(of value: String, accepting accepted: String) -> CatalogError {
        .invalidRequest("the query parameter '\(name)' is \(Self.quoted(value)); it takes \(accepted)")
    }

    static func list(_ values: [String]) -> String {
        values.count == 1 ? values.joined() : "one of " + values.joined(separator: ", ")
    }

    static func withoutRepeats(_ values: [String]) -> [String] {
        var seen: Set<String> = []
        return values.filter { seen.insert($0).inserted }
    }

    /// The text in quotation marks, cut to 64 characters, without the secrets of addresses in it.
    static func quoted(_ text: String) -> String {
        "'\(cut(HTTPURL.withoutSecrets(in: text), to: 64))'"
    }

    static func cut(_ text: String, to longest: Int) -> String {
        text.count <= longest ? text : "\(text.prefix(longest))…"
    }
}

extension SearchParameter {
    // Parameters that are the same for all sources.
    static let term = SearchParameter(
        name: "term", summary: "The text to search for.", accepted: .text(maximumLength: 200), isRequired: true)
    static let limit = SearchParameter(
        name: "limit", summary: "The maximum number of results.", accepted: .number(1...200), standard: "50")
    static let offset = SearchParameter(
        name: "offset", summary: "The number of results to skip.", accepted: .number(0...1_000_000), standard: "0")
    static let session = SearchParameter(
        name: "session",
        summary: "A name of the client's choice: a newer search of the same session replaces an older one that still waits.",
        accepted: .text(maximumLength: 64))
    static let include = SearchParameter(
        name: "include", summary: "Adds the source's object to each result.", accepted: .values(["raw"]))
}
