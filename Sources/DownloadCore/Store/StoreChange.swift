/// One change to the stored data.
package enum StoreChange: Sendable {
    /// Inserts the record of a new download. It is refused when the remaining room is reserved for changes to existing
    /// records.
    case add(DownloadRecord)
    /// Inserts the record, or replaces the record with the same id.
    case save(DownloadRecord)
    /// Replaces only the byte counter and the segments. Has no effect if the record does not exist.
    case progress(StoredProgress)
    /// Deletes the record, and keeps the removal with its event id.
    case remove(RecordID, changeID: EventID)
    /// Sets a setting, or deletes it if the value is `nil`.
    case set(name: String, value: String?)
    /// Writes something that is never read. Its success shows that the store accepts new records.
    case probe
    /// Keeps the outcome of a request with an idempotency key, in place of an earlier one.
    case remember(IdempotencyRecord)
    /// Deletes the outcome of the request with this key.
    case forget(String)
    /// Keeps a webhook delivery until it succeeds, in place of its earlier state.
    case keepDelivery(WebhookDelivery)
    /// Deletes a delivery that has succeeded or was abandoned.
    case dropDelivery(RecordID)
    /// Keeps the epoch with which a run of the service begins.
    case beginEpoch(UInt64)
    /// Changes a subscription or its items.
    case subscription(Subscription)
    /// Changes the fleet's view of a download, or notifies other replicas. A service alone ignores it.
    case fleet(Fleet)

    /// A change of a subscription.
    package enum Subscription: Sendable {
        /// Inserts a subscription, or replaces it.
        case save(StoredSubscription)
        /// Deletes a subscription and its items.
        case remove(RecordID)
        /// Inserts an item of a subscription, or replaces it. An empty body leaves the stored one. Has no effect if the
        /// subscription does not exist.
        case saveItem(StoredItem)
        /// Deletes an item of a subscription.
        case dropItem(RecordID, key: String)
        /// Refuses the write if the claim has passed to another replica.
        case requireClaim(SubscriptionClaim)
        /// Ends a claim, so that any replica may claim the subscription.
        case endClaim(SubscriptionClaim)
    }

    /// A change that only a fleet needs.
    package enum Fleet: Sendable {
        /// Publishes a download to all replicas of a fleet. A changed record is saved by a change of its own.
        case publishVersion(Download)
        /// Adds a download of this replica to the fleet's queue.
        case enqueue(RecordID)
        /// Removes a download from the queue, or releases its slot.
        case leaveQueue(RecordID)
        /// Makes a new download the one that later requests for its URL receive. The write is refused if there already is
        /// one.
        case holdURL(RecordID)
        /// Releases a download, so that any replica may acquire it.
        case release(RecordID)
        /// Requests slots, with the state after all changes before this one.
        case requestSlots(SlotRequest)
        /// Sends a message with remote commands or replies to the instance `to`.
        case send(String, to: Int64)
    }
}

/// The durable progress of a download.
package struct StoredProgress: Sendable, Equatable {
    package var id: RecordID
    package var bytesReceived: Int64
    package var segments: [SyncedSegment]
}
