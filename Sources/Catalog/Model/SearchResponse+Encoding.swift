public import JSON

extension SearchResponse {
    /// Writes the response.
    /// - Parameters:
    ///   - linkPrefix: The prefix of every link.
    ///   - includesRaw: Whether to include each result's original JSON.
    ///   - download: Returns the download of a normalised URL, or `nil` if there is none.
    public func encode(
        into writer: inout JSONWriter, linkPrefix: String = "", includesRaw: Bool,
        download: (_ url: String) -> (id: String, state: String)?
    ) {
        writer.beginObject()
        writer.member("source", source)
        writer.member("term", term)
        writer.member("limit", limit)
        writer.member("offset", offset)
        writer.member("count", found.count)
        writer.member("attribution", attribution)
        if let work {
            writer.name("of")
            work.of.encode(
                into: &writer, linkPrefix: linkPrefix, includesRaw: includesRaw,
                download: work.of.normalisedURL.flatMap(download))
            writer.member("total", work.total)
            writer.name("formats")
            writer.beginArray()
            for format in work.formats { format.encode(into: &writer) }
            writer.endArray()
            writer.name("warnings")
            writer.beginArray()
            for warning in work.warnings { writer.value(warning) }
            writer.endArray()
        }
        writer.name("results")
        writer.beginArray()
        for item in found {
            item.encode(
                into: &writer, linkPrefix: linkPrefix, includesRaw: includesRaw,
                download: item.normalisedURL.flatMap(download))
        }
        writer.endArray()
        writer.endObject()
    }
}

extension WorkFormat {
    fileprivate func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", name)
        writer.member("count", count)
        writer.member("bytes", bytes)
        writer.member("source", source.rawValue)
        writer.member("selected", isSelected)
        writer.endObject()
    }
}
