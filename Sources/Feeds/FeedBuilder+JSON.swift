import HTTPCore
import JSON

/// JSON Feed 1.0 and 1.1 (https://www.jsonfeed.org/version/1.1/).
extension FeedBuilder {
    /// Reads a document.
    /// - Throws: `Feed.Refusal` if it is no feed.
    mutating func readJSON(_ text: [UInt8]) throws(Feed.Refusal) {
        let values = text.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
        guard values <= Feed.Limits.values else { throw Feed.Refusal(finding: "JSON with too many values") }
        guard let root = (try? JSONValue(parsing: text)) ?? readBroken(text) else {
            throw Feed.Refusal(finding: "broken JSON")
        }
        guard let version = root["version"]?.string, version.contains("jsonfeed.org"), let items = root["items"]?.array else {
            throw Feed.Refusal(finding: "JSON of another kind")
        }
        feed.title = root["title"]?.string.flatMap(Self.plain)
        feed.author = Self.author(of: root)
        feed.page = page(root["home_page_url"]?.string)
        feed.artwork = url(root["icon"]?.string) ?? url(root["favicon"]?.string)
        feed.next = url(root["next_url"]?.string)
        for item in items {
            var draft = Draft()
            // Some programs write numbers.
            draft.id = item["id"].flatMap { $0.string ?? $0.integer.map(String.init) }.flatMap(Self.identifier)
            draft.title = item["title"]?.string.flatMap(Self.plain)
            draft.page = page(item["url"]?.string) ?? page(item["external_url"]?.string)
            draft.date = (item["date_published"]?.string ?? item["date_modified"]?.string).flatMap(FeedDate.parse)
            draft.artwork = url(item["image"]?.string) ?? url(item["banner_image"]?.string)
            draft.enclosures = (item["attachments"]?.array ?? []).compactMap { attachment in
                let seconds = attachment["duration_in_seconds"]?.number.flatMap { $0 > 0 && $0 < 1e8 ? $0 : nil }
                return enclosure(
                    attachment["url"]?.string, type: attachment["mime_type"]?.string,
                    length: attachment["size_in_bytes"]?.integer.map(String.init),
                    durationMs: seconds.map { Int64($0 * 1000) })
            }
            add(draft)
        }
    }

    /// Returns what precedes the fault of a document. The faults of single texts are mended: bytes that are no UTF-8,
    /// control characters, and halves of surrogate pairs.
    private mutating func readBroken(_ text: [UInt8]) -> JSONValue? {
        var outline = BrokenJSON(text)
        let fault: Int
        do throws(JSONError) {
            return try JSONValue(parsing: outline.text)
        } catch {
            fault = error.offset
        }
        outline.cut(before: fault)
        guard let root = try? JSONValue(parsing: outline.text) else { return nil }
        feed.isComplete = false
        feed.warnings.append("The document breaks off after \(root["items"]?.array?.count ?? 0) items.")
        return root
    }

    private static func author(of value: JSONValue) -> String? {
        (value["authors"]?.array?.first ?? value["author"])?["name"]?.string.flatMap(plain)
    }
}
