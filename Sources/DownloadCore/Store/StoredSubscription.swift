/// The stored form of a subscription. Its contents are the business of the module that follows subscriptions.
package struct StoredSubscription: Sendable, Equatable {
    package var id: RecordID
    /// A JSON object.
    package var body: [UInt8]
    /// The number of changes, by which the replicas of a fleet recognise them.
    package var version: Int64
    /// The work. A fleet adds no second subscription for it.
    package var work: String
    /// The number of its items by state, which the store counts; `nil` if it was not read.
    package var items: [String: Int]?

    package init(id: RecordID, body: [UInt8], version: Int64 = 0, work: String = "") {
        (self.id, self.body, self.version, self.work) = (id, body, version, work)
    }
}

/// The right to change a subscription.
package struct SubscriptionClaim: Sendable, Equatable {
    package let id: RecordID
    /// The number of the claim in the database of a fleet; `nil` for a service alone, which needs no claims.
    package let number: Int64?

    package init(id: RecordID, number: Int64?) {
        (self.id, self.number) = (id, number)
    }

    /// Returns changes that the store refuses if the claim has passed to another replica.
    package func guarding(_ own: StoreChange.Subscription..., with changes: [StoreChange] = []) -> [StoreChange] {
        (number == nil ? own : [.requireClaim(self)] + own).map(StoreChange.subscription) + changes
    }
}

/// A claim on a subscription, and what the claimant has to know.
package struct ClaimedSubscription: Sendable, Equatable {
    package let claim: SubscriptionClaim
    /// The present subscription of a fleet; `nil` for a service alone, which knows it.
    package let stored: StoredSubscription?

    package init(claim: SubscriptionClaim, stored: StoredSubscription? = nil) {
        self.claim = claim
        self.stored = stored
    }
}

/// A change of a subscription that a replica of the fleet has made.
package enum ChangedSubscription: Sendable, Equatable {
    case saved(StoredSubscription)
    case removed(RecordID)
}

/// The stored form of an item that a subscription has found.
package struct StoredItem: Sendable, Equatable {
    package var subscription: RecordID
    /// The identity of the item within its subscription.
    package var key: String
    /// The time of its publication or first listing, in milliseconds since 1970. It orders the items.
    package var date: Int64
    package var state: String
    /// The reason for the state; `nil` for none.
    package var reason: String?
    /// The normalised address of the file; `nil` for none.
    package var url: String?
    /// The download that the item became; `nil` for none.
    package var download: RecordID?
    /// Whether the subscription made the download.
    package var isMade: Bool
    /// Whether the user has taken the item by hand.
    package var isByHand: Bool
    /// A JSON object with the properties of the item; empty if it was not read.
    package var body: [UInt8]

    package init(
        subscription: RecordID, key: String, date: Int64, state: String, reason: String? = nil, url: String? = nil,
        download: RecordID? = nil, isMade: Bool = false, isByHand: Bool = false, body: [UInt8] = []
    ) {
        self.subscription = subscription
        self.key = key
        self.date = date
        self.state = state
        self.reason = reason
        self.url = url
        self.download = download
        self.isMade = isMade
        self.isByHand = isByHand
        self.body = body
    }
}

/// A selection of items, the newest first.
package struct ItemQuery: Sendable {
    /// The subscription; `nil` for all.
    package var subscription: RecordID?
    /// The download that the items became; `nil` for all items.
    package var download: RecordID?
    /// The states; empty for all.
    package var states: [String] = []
    /// The key of the only item; `nil` for all items.
    package var key: String?
    /// The date and key after which to begin; `nil` for the newest item.
    package var after: (date: Int64, key: String)?
    /// The maximum number of items.
    package var limit = Int.max
    /// Whether the items are read with their bodies.
    package var includesBodies = true

    package init(of subscription: RecordID) { self.subscription = subscription }

    package init(ofDownload download: RecordID) { self.download = download }
}
