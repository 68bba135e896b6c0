internal import JSON

/// Encodes responses as the Internet Archive does.
enum ArchiveEncoder {
    static let mediaType = "application/json"

    /// The response to `/advancedsearch.php`. A refusal has status 200 as well.
    static func search(_ query: ArchiveSearch, in archive: Archive) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        if query.page * query.rows > ArchiveSearch.last {
            json.member("error", "[RANGE_OUT_OF_BOUNDS] page and rows lead beyond \(ArchiveSearch.last) results")
            json.endObject()
            return json.bytes
        }
        let found = archive.items.filter(query.finds)
        let start = (query.page - 1) * query.rows
        json.name("responseHeader")
        json.beginObject()
        json.member("status", 0)
        json.member("QTime", 7)
        json.endObject()
        json.name("response")
        json.beginObject()
        json.member("numFound", found.count)
        json.member("start", start)
        json.name("docs")
        json.beginArray()
        for item in found.dropFirst(start).prefix(query.rows) {
            json.beginObject()
            encode(item, into: &json) { query.fields.isEmpty || query.fields.contains($0) }
            json.endObject()
        }
        json.endArray()
        json.endObject()
        json.endObject()
        return json.bytes
    }

    /// The response to `/metadata/<identifier>`: an object without members if there is no such item.
    static func metadata(_ item: Archive.Item?) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        if let item {
            json.member("created", 1_761_984_000)
            json.member("dir", "/7/items/\(item.identifier)")
            if item.isDark {
                json.member("is_dark", true)
            } else {
                json.name("files")
                json.beginArray()
                for file in item.files { encode(file, into: &json) }
                json.endArray()
                json.member("files_count", item.files.count)
                json.member("item_size", item.files.reduce(0) { $0 + $1.content.length })
                json.name("metadata")
                json.beginObject()
                encode(item, into: &json) { _ in true }
                json.endObject()
            }
        }
        json.endObject()
        return json.bytes
    }

    /// Writes the metadata of an item. The year is a number, derived from the date.
    private static func encode(_ item: Archive.Item, into json: inout JSONWriter, isWanted: (String) -> Bool) {
        if isWanted("identifier") { json.member("identifier", item.identifier) }
        for member in item.metadata.members ?? [] where isWanted(member.name) { json.member(member.name, member.value) }
        if isWanted("year"), let year = item["date"].first.flatMap({ Int($0.prefix(4)) }) { json.member("year", year) }
    }

    /// Writes a file. Numbers are strings.
    private static func encode(_ file: Archive.File, into json: inout JSONWriter) {
        json.beginObject()
        json.member("name", file.name)
        json.member("source", file["source"] ?? (file["original"] == nil ? "original" : "derivative"))
        for member in file.entry.members ?? [] where !["name", "source", "size", "damaged"].contains(member.name) {
            json.member(member.name, member.value)
        }
        if file.isListed {
            let digests = file.digests
            json.member("mtime", "1761984000")
            json.member("size", String(file.content.length))
            json.member("md5", digests.md5)
            json.member("crc32", digests.crc32)
            json.member("sha1", digests.sha1)
        } else {
            // The archive writes its list of files before the list is complete, so the digest belongs to an earlier
            // version.
            json.member("md5", "d41d8cd98f00b204e9800998ecf8427e")
            json.member("summation", "md5")
        }
        json.endObject()
    }
}
