public import JSON

extension SearchResponse {
    /// Writes the envelope. `includesRaw` adds each result as the source wrote it; `download` tells the download of a URL, if
    /// there is one.
    public func encode(
        into writer: inout JSONWriter, includesRaw: Bool, download: (_ url: String) -> (id: String, state: String)?
    ) {
        writer.beginObject()
        writer.member("source", source)
        writer.member("term", term)
        writer.member("limit", limit)
        writer.member("offset", offset)
        writer.member("count", items.count)
        writer.member("attribution", attribution)
        writer.name("results")
        writer.beginArray()
        for item in items {
            item.encode(into: &writer, includesRaw: includesRaw, download: item.downloadUrl.flatMap(download))
        }
        writer.endArray()
        writer.endObject()
    }
}

extension SearchItem {
    func encode(into writer: inout JSONWriter, includesRaw: Bool, download: (id: String, state: String)?) {
        writer.beginObject()
        writer.member("id", id)
        writer.member("kind", kind)
        writer.member("name", name)
        writer.member("artist", artist)
        writer.member("collection", collection)
        writer.member("genre", genre)
        writer.member("durationMs", durationMs)
        writer.member("releaseDate", releaseDate)
        writer.member("explicit", explicit)
        writer.member("artworkUrl", artworkUrl)
        writer.member("pageUrl", pageUrl)
        writer.member("downloadUrl", downloadUrl)
        writer.name("download")
        if let download {
            writer.beginObject()
            writer.member("id", download.id)
            writer.member("state", download.state)
            writer.endObject()
        } else {
            writer.null()
        }
        if includesRaw {
            writer.name("raw")
            writer.raw(raw)
        }
        writer.endObject()
    }
}
