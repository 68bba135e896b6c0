/// A message about the end of a download to one webhook.
package struct EndAnnouncement: Sendable {
    /// The id of the message.
    package let id: RecordID
    /// The URL of the webhook.
    package let url: String
    /// The download at its end.
    package let download: Download
}

/// Messages about the ends of one download that may not be durable yet, oldest first.
///
/// Every save of the record writes all of them, so a failed save loses none. A message gets its id when the end is
/// decided. A repeated save writes the same message with the same id, and receivers recognise it.
struct EndAnnouncements: Sendable {
    /// The maximum number of messages: those about eight ends at least. A download whose saves fail can end again after
    /// each retry; then the oldest messages are dropped.
    package static let limit = 8 * (DefaultWebhooks.limit + 1)

    /// The messages that every save has to write.
    package private(set) var messages: [EndAnnouncement] = []

    var isEmpty: Bool { messages.isEmpty }
    var ids: [RecordID] { messages.map(\.id) }

    /// Adds the messages about an end.
    mutating func add(_ added: [EndAnnouncement]) {
        messages = (messages + added).suffix(Self.limit)
    }

    /// Removes the messages with these ids, which a commit has made durable.
    /// - Returns: The messages to deliver now, without those that an earlier commit has confirmed.
    mutating func confirm(_ ids: [RecordID]) -> [EndAnnouncement] {
        if ids.isEmpty || messages.isEmpty { return [] }
        let confirmed = messages.filter { ids.contains($0.id) }
        withdraw(ids)
        return confirmed
    }

    /// Removes messages about an end that has not happened.
    mutating func withdraw(_ ids: [RecordID]) {
        messages.removeAll { ids.contains($0.id) }
    }
}
