/// Messages about the ends of one download that the store may not have yet, oldest first.
///
/// Every save of the record writes all of them, so a failed save loses none. A message gets its identity when the end is decided and
/// keeps it: a repeated save writes the same message, and receivers recognise it.
struct EndAnnouncements: Sendable {
    /// The most messages that are kept. A download whose saves fail can end again each time it is tried again; then the oldest
    /// message is dropped.
    static let limit = 8

    /// The messages that every save has to write.
    private(set) var deliveries: [WebhookDelivery] = []

    var isEmpty: Bool { deliveries.isEmpty }
    /// The identities of the messages.
    var ids: [DownloadID] { deliveries.map(\.id) }

    /// Adds the message about an end.
    mutating func add(_ delivery: WebhookDelivery) {
        if deliveries.count == Self.limit { deliveries.removeFirst() }
        deliveries.append(delivery)
    }

    /// Takes out the messages with these identities: a commit has made them durable.
    /// - Returns: the messages to deliver now. One that an earlier commit has confirmed is not among them.
    mutating func confirm(_ ids: [DownloadID]) -> [WebhookDelivery] {
        if ids.isEmpty || deliveries.isEmpty { return [] }
        let confirmed = deliveries.filter { ids.contains($0.id) }
        deliveries.removeAll { ids.contains($0.id) }
        return confirmed
    }

    /// Drops a message: the end that it is about has not happened.
    mutating func withdraw(_ id: DownloadID) {
        deliveries.removeAll { $0.id == id }
    }
}
