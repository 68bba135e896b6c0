internal import DownloadCore
internal import DownloadFeed
internal import Downloads
internal import JSON

extension DownloadPage {
    /// `{"items":[…],"nextCursor":…,"total":n}`.
    func encode(into writer: inout JSONWriter, _ rendered: RenderedDownloads) {
        writer.beginObject()
        writer.name("items")
        writer.beginArray()
        for item in items { writer.raw { rendered.rendering(of: item).append(to: &$0) } }
        writer.endArray()
        writer.member("nextCursor", next?.description)
        writer.member("total", total)
        writer.endObject()
    }
}
