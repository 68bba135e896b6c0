public import HTTPCore
public import JSON

extension Catalog {
    /// Checks the parameters of a search.
    /// - Throws: ``CatalogError/invalidRequest(_:)`` with parameter, value and accepted values.
    public static func query(from items: [QueryItem]) throws(CatalogError) -> SearchQuery {
        var given: [String: String] = [:]
        for item in items {
            if given.updateValue(item.value, forKey: item.name) != nil {
                throw repeated(item.name, in: items)
            }
        }
        let sourceID = try given["source"].map { value throws(CatalogError) in
            try SearchSourceTable.parameter.check(value, media: nil)
        }
        let source = SearchSourceTable.descriptions.first { $0.id == sourceID } ?? ITunesSource.description
        // In the given order, so that the first mistake is reported.
        for item in items where item.name != "source" && !source.parameters.contains(where: { $0.name == item.name }) {
            throw unknown(item.name, source: source)
        }
        var values: [String: String] = [:]
        // In the order of the description, in which `media` precedes the parameters that depend on it.
        for parameter in source.parameters {
            guard let value = given[parameter.name] else {
                if !parameter.isRequired { continue }
                throw .invalidRequest("the query parameter '\(parameter.name)' is missing; it takes \(parameter.taken)")
            }
            values[parameter.name] = try parameter.check(value, media: values["media"])
        }
        return SearchQuery(
            source: source.id, term: values["term"] ?? "", media: values["media"], entity: values["entity"],
            attribute: values["attribute"], country: values["country"], lang: values["lang"],
            explicit: values["explicit"].map { $0 == "Yes" }, limit: values["limit"].flatMap { Int($0) } ?? 50,
            offset: values["offset"].flatMap { Int($0) } ?? 0, session: values["session"],
            includesRaw: values["include"] == "raw")
    }

    static func repeated(_ name: String, in items: [QueryItem]) -> CatalogError {
        let count = items.count { $0.name == name }
        return .invalidRequest("the query parameter \(SearchParameter.quoted(name)) is given \(count) times; it takes one value")
    }

    private static func unknown(_ name: String, source: SourceDescription) -> CatalogError {
        let accepted = (["source"] + source.parameters.map(\.name)).joined(separator: ", ")
        let isOthers = SearchSourceTable.descriptions.contains { $0.parameters.contains { $0.name == name } }
        let quoted = SearchParameter.quoted(name)
        let what =
            isOthers
            ? "the query parameter \(quoted) is not taken by the source '\(source.id)'" : "unknown query parameter \(quoted)"
        return .invalidRequest("\(what); accepted parameters: \(accepted)")
    }
}

extension Catalog {
    /// Writes the sources and their parameters.
    public static func encodeSources(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.name("sources")
        writer.beginArray()
        for source in SearchSourceTable.descriptions {
            writer.beginObject()
            writer.member("id", source.id)
            writer.member("name", source.name)
            writer.member("isDefault", source.id == SearchSourceTable.parameter.standard)
            writer.member("attribution", source.attribution)
            writer.member("hasParts", source.hasParts)
            writer.member("hasFormats", source.hasFormats)
            writer.name("mediaTypes")
            writer.values(source.mediaTypes)
            writer.name("parameters")
            writer.beginArray()
            for parameter in source.parameters { parameter.encode(into: &writer) }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }
}

extension SearchParameter {
    /// Writes the parameter, with the same members for every parameter.
    fileprivate func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", name)
        writer.member("description", summary)
        writer.member("required", isRequired)
        var maximumLength: Int?
        var range: ClosedRange<Int>?
        var values: [String]?
        var valuesByMedia: [MediaValues]?
        switch accepted {
        case .text(let length): maximumLength = length
        case .address: maximumLength = FeedSource.longestAddress
        case .values(let list), .countries(let list): values = list
        case .number(let numbers): range = numbers
        case .valuesByMedia(let table):
            values = Self.withoutRepeats(table.flatMap(\.values))
            valuesByMedia = table
        }
        if range == nil {
            writer.member("type", "string")
            writer.member("default", standard)
        } else {
            writer.member("type", "integer")
            writer.member("default", standard.flatMap { Int($0) })
        }
        writer.member("maximumLength", maximumLength)
        writer.member("minimum", range?.lowerBound)
        writer.member("maximum", range?.upperBound)
        writer.name("values")
        if let values { writer.values(values) } else { writer.null() }
        writer.name("valuesByMedia")
        if let valuesByMedia {
            writer.beginObject()
            for entry in valuesByMedia {
                writer.name(entry.media)
                writer.values(entry.values)
            }
            writer.endObject()
        } else {
            writer.null()
        }
        writer.endObject()
    }
}

extension JSONWriter {
    fileprivate mutating func values(_ strings: [String]) {
        beginArray()
        for string in strings { value(string) }
        endArray()
    }
}
