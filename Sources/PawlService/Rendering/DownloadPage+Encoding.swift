internal import Downloads
internal import JSON

extension DownloadPage {
    /// `{"items":[…],"nextCursor":…,"total":n}`.
    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.name("items")
        writer.beginArray()
        for item in items { item.encode(into: &writer) }
        writer.endArray()
        writer.member("nextCursor", next?.description)
        writer.member("total", total)
        writer.endObject()
    }
}
