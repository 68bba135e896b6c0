internal import DownloadCore
internal import DownloadIndex
internal import JSON

extension IndexListing {
    /// The result of writing a list.
    enum Encoding {
        /// The limit of items was exceeded.
        case incomplete
        /// The list has items that change without a publication.
        case live
        /// The list is the same until the next publication.
        case constant
    }

    /// Writes `{"items":[…],"nextCursor":…,"total":n}`.
    /// - Parameter limit: The maximum number of items that are not copied from the cache.
    func encode(into writer: inout JSONWriter, _ rendered: RenderedResources, rendering limit: Int = .max) -> Encoding {
        // Storage that grows step by step would be copied each time.
        writer.bytes.reserveCapacity(self.limit * Self.typicalLength)
        writer.beginObject()
        writer.name("items")
        writer.beginArray()
        var rest = limit
        var isLive = false
        let next = forEach { item in
            if item.isLive { isLive = true }
            if let text = rendered.cached(item.version) {
                writer.raw { text.append(to: &$0, at: item.position) }
            } else {
                rest -= 1
                if rest >= 0 { writer.raw { rendered.rendering(of: item.download).append(to: &$0) } }
            }
            return rest >= 0
        }
        writer.endArray()
        writer.member("nextCursor", next?.description)
        writer.member("total", total)
        writer.endObject()
        return rest < 0 ? .incomplete : isLive ? .live : .constant
    }

    /// The length of a typical item.
    private static var typicalLength: Int { 1024 }
}
