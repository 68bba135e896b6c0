public import DownloadCore
public import HTTPCore

/// A work that is listed again on a schedule, and whose new items become downloads.
public struct Subscription: Sendable, Equatable {
    /// The state of a subscription.
    public enum State: String, Sendable, CaseIterable {
        /// It is checked on its schedule.
        case active
        /// It is not checked, and nothing is taken.
        case paused
        /// Its feed has ended (410). It is not checked until it is resumed.
        case gone
    }

    /// The work that is listed.
    public enum Source: Sendable, Equatable {
        /// The feed at an address.
        case feed(HTTPURL)
        /// The parts of a work of a catalogue, by its id.
        case work(String)
        /// The newest results of a search in the Internet Archive. Each is taken whole.
        case search(term: String)
    }

    /// The validators of the last complete listing, for conditional requests (RFC 9110 §13).
    public struct Validators: Sendable, Equatable {
        /// The entity tag, as it was sent; `nil` for none, and for one with characters beyond ASCII.
        public var entityTag: String?
        /// The value of `Last-Modified`, as it was sent; `nil` for none.
        public var lastModified: String?
    }

    /// The reason for which the last check failed.
    public struct Failure: Sendable, Equatable {
        /// The problem with the listing; `nil`: the feed has ended.
        public var problem: ProblemCode?
        /// A sentence.
        public var message: String
        /// The status of the response; `nil` if there was none.
        public var httpStatus: Int?

        /// The code, such as `upstream-rejected`.
        public var code: String { problem?.rawValue ?? "gone" }
    }

    /// The number of items by state.
    public struct Counts: Sendable, Equatable {
        /// The numbers by state; absent is 0.
        public var numbers: [ItemState: Int] = [:]

        /// The number of items in a state.
        public subscript(state: ItemState) -> Int {
            get { numbers[state] ?? 0 }
            set { numbers[state] = newValue == 0 ? nil : newValue }
        }
    }

    /// The choices of the user.
    public struct Settings: Sendable, Equatable {
        /// The interval of checks in seconds; see ``CheckSchedule/Limits``.
        public var every = CheckSchedule.Limits.standard
        /// The choice among the items of the first listing.
        public var take = BacklogChoice.new
        /// The number of newest items to keep, from 1; `nil` for all.
        public var keep: Int?
        /// The conditions for items that are taken without a command.
        public var filter = ItemFilter()
        /// The names of the files, which precede the folder of the options; `nil` for the work's names.
        public var naming: NamingTemplate?
        /// The options of the downloads. Without a folder, files are in the work's. The header fields are for one
        /// origin: the one that they were given for.
        public var options = DownloadOptions()
        /// The formats of works with formats; empty for those that the source prefers.
        public var formats: [String] = []

        /// Creates the default settings.
        public init() {}
    }

    /// The identity.
    public let id: RecordID
    /// The work.
    public var source: Source
    /// The former addresses of the feed, the oldest first.
    public var formerAddresses: [String] = []
    /// The origin that the header fields of the options were given for.
    public var headersOrigin: String?
    /// The choices of the user.
    public var settings: Settings
    /// The name of the work at the last check; before, its address or term.
    public var name: String
    /// The creator of the work at the last check; `nil` if it is unknown.
    public var artist: String?
    /// The address of the work's picture at the last check; `nil` for none.
    public var artworkUrl: String?
    /// The address of the work's page at the last check; `nil` for none.
    public var pageUrl: String?
    /// The key of the feed of its finished files.
    public var key = FeedKey()
    /// The state.
    public var state = State.active
    /// The time of the last check; `nil` before the first.
    public var checkedAt: Timestamp?
    /// The time of the last check that found a changed listing; `nil` for none.
    public var changedAt: Timestamp?
    /// The time of the next check; `nil` if none is planned.
    public var nextCheckAt: Timestamp?
    /// The number of failures since the last success.
    public var failures = 0
    /// The reason for which the last check failed; `nil` if it succeeded.
    public var failure: Failure?
    /// The faults of the last listing despite which it was read, in sentences.
    public var warnings: [String] = []
    /// The interval that the feed or its server asks for, in seconds; `nil` for none.
    public var hint: Int64?
    /// The validators of the last complete listing.
    public var validators = Validators()
    /// The number of items by state.
    public var items = Counts()
    /// The time of the last listing that was read, and not just unchanged; `nil` for none.
    public var listedAt: Timestamp?
    /// The page of the feed with which the first listing continues; `nil` for none.
    public var nextPage: HTTPURL?
    /// Whether a check has had a listing that did not break off.
    public var hasListing = false
    /// The time up to which items without a record count as seen; `nil` for none.
    public var horizon: Timestamp?
    /// The time up to which unknown items belong to the backlog that a check is recording; `nil` outside of such a check.
    var backlogEnd: Timestamp?
    /// The time of creation.
    public let createdAt: Timestamp
    /// The time of the last change of settings, state or name.
    public var updatedAt: Timestamp
    /// The number of such changes.
    public var revision: UInt64 = 1
    /// The number of times that its record was saved. It grows with each check as well.
    public var version: Int64 = 0

    /// Creates an active subscription that was never checked.
    public init(id: RecordID, source: Source, settings: Settings, at now: Timestamp) {
        self.id = id
        self.source = source
        self.settings = settings
        createdAt = now
        updatedAt = now
        nextCheckAt = now
        switch source {
        case .feed(let url): name = url.withoutUserInfo.string
        case .work(let id): name = id
        case .search(let term): name = term
        }
        if case .feed(let url) = source, !settings.options.headers.isEmpty { headersOrigin = url.origin }
    }

    /// The schedule of the next check.
    public var schedule: CheckSchedule { CheckSchedule(every: settings.every, hint: hint, failures: failures) }

    /// Returns whether it is the subscription for a source: a feed also for its former addresses.
    func isOf(_ source: Source) -> Bool {
        guard case .feed(let url) = source, case .feed(let present) = self.source else { return self.source == source }
        let address = url.string
        return present.string == address || formerAddresses.contains(address)
    }

    /// The keys of the sources for which ``isOf(_:)`` may hold.
    var sourceKeys: [String] { [source.key] + formerAddresses.map { "feed:\($0)" } }

    /// The label of its downloads.
    public var label: String { "subscription:\(id)" }
}
