/// Messages about the ends of one download that may not be durable yet, oldest first.
///
/// Every save of the record writes all of them, so a failed save loses none. A message gets its id when the end is
/// decided. A repeated save writes the same message with the same id, and receivers recognise it.
struct EndAnnouncements: Sendable {
    /// The maximum number of messages. A download whose saves fail can end again after each retry; then the oldest
    /// message is dropped.
    package static let limit = 8

    /// The messages that every save has to write.
    package private(set) var deliveries: [WebhookDelivery] = []

    var isEmpty: Bool { deliveries.isEmpty }
    var ids: [DownloadID] { deliveries.map(\.id) }

    /// Adds the message about an end.
    mutating func add(_ delivery: WebhookDelivery) {
        if deliveries.count == Self.limit { deliveries.removeFirst() }
        deliveries.append(delivery)
    }

    /// Removes the messages with these ids, which a commit has made durable.
    /// - Returns: The messages to deliver now, without those that an earlier commit has confirmed.
    mutating func confirm(_ ids: [DownloadID]) -> [WebhookDelivery] {
        if ids.isEmpty || deliveries.isEmpty { return [] }
        let confirmed = deliveries.filter { ids.contains($0.id) }
        deliveries.removeAll { ids.contains($0.id) }
        return confirmed
    }

    /// Removes a message whose end has not happened.
    mutating func withdraw(_ id: DownloadID) {
        deliveries.removeAll { $0.id == id }
    }
}
