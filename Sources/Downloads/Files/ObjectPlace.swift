internal import ObjectStorage
internal import System

/// The place in object storage where a fleet keeps its files. It is marked with the fleet's name and its database: what is there that no
/// record names is removed, so it must not be another fleet's, nor that of the database which this one is a copy of. And files are looked
/// for there: a fleet that has a place has no other.
final class ObjectPlace: Sendable {
    /// Who has it, as the database knows.
    struct Owner: Sendable {
        /// The fleet's name.
        var name: String
        /// Tells its database from copies of it.
        var database: String
        /// Whether the fleet has marked a place before.
        var hasPlace: Bool
    }

    private let storage: ObjectStorage
    private let owner: Owner
    private let settled: @Sendable () async -> Void
    private let isSettled = Locked(false)

    /// - Parameter settled: notes in the database that the fleet has a place.
    init(_ storage: ObjectStorage, _ owner: Owner, settled: @escaping @Sendable () async -> Void) {
        self.storage = storage
        self.owner = owner
        self.settled = settled
    }

    /// How long a request may take: what is not answered by then is asked again later.
    private static let patience: Duration = .seconds(3)

    /// Whether it is known to be this fleet's. Until then nothing is stored or removed there.
    var isOwn: Bool { isSettled.withLock { $0 } }

    /// Finds out whether it is this fleet's, and marks it.
    /// - Returns: why it is not.
    func settle() async throws(ObjectStorageError) -> String? {
        if isOwn { return nil }
        let ownership = try await storage.ownership(for: owner.name, noting: owner.database, within: Self.patience)
        if let objection = Self.objection(to: ownership, for: owner) { return objection }
        try await storage.mark(for: owner.name, noting: owner.database, within: Self.patience)
        await settled()
        isSettled.withLock { $0 = true }
        return nil
    }

    /// Tries whether the storage answers.
    func probe() async throws(ObjectStorageError) -> String? {
        guard isOwn else { return try await settle() }
        return try await storage.isMarked(for: owner.name, within: Self.patience)
            ? nil : "the object .pawl/\(owner.name) is gone, which marks the place"
    }

    /// Why a fleet may not keep its files there.
    static func objection(to ownership: ObjectOwnership, for owner: Owner) -> String? {
        switch ownership {
        case .own: nil
        case .nobody:
            owner.hasPlace
                ? "this fleet has its files elsewhere; if they have been moved there, store an empty object .pawl/\(owner.name) beside them"
                : nil
        case .copy:
            "the files there are of a database that this one is a copy of; name another prefix, or remove the object .pawl/\(owner.name) if that one is no more"
        case .other(let name):
            "the files of another fleet are there; name another prefix, or remove the object .pawl/\(name) if that one is no more"
        }
    }
}
