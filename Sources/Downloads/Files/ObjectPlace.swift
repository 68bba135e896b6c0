internal import ObjectStorage
internal import System

/// The place in object storage where a fleet keeps its files. It is marked with the fleet's name and its database: what is there that no
/// record names is removed, so it must not be another fleet's, nor that of the database which this one is a copy of. And files are looked
/// for there: the database knows the place, and no replica has another.
final class ObjectPlace: Sendable {
    /// Who has it.
    struct Owner: Sendable {
        /// The fleet's name.
        var name: String
        /// Tells its database from copies of it.
        var database: String
    }

    private let storage: ObjectStorage
    private let owner: Owner
    private let keep: @Sendable (String, Bool) async throws(StoreError) -> String
    private let state = Locked(State.unknown)

    private enum State {
        case unknown, own, refused
    }

    /// How long a request may take: what is not answered by then is asked again later.
    private static let patience: Duration = .seconds(3)

    /// - Parameter keep: has the database know the place, if it knows none or is told to, and returns the one that it knows.
    init(
        _ storage: ObjectStorage, _ owner: Owner,
        keep: @escaping @Sendable (_ place: String, _ replacing: Bool) async throws(StoreError) -> String
    ) {
        self.storage = storage
        self.owner = owner
        self.keep = keep
    }

    /// Whether it is known to be this fleet's. Otherwise nothing is stored or removed there.
    var isOwn: Bool { state.withLock { $0 == .own } }
    /// Whether it is known not to be: what this replica finished would wait for ever.
    var isRefused: Bool { state.withLock { $0 == .refused } }

    /// Finds out whether it is this fleet's, and marks it.
    /// - Returns: why it is not.
    func settle() async throws(ObjectStorageError) -> String? {
        if isOwn { return nil }
        return note(try await settled())
    }

    private func note(_ objection: String?) -> String? {
        state.withLock { $0 = objection == nil ? .own : .refused }
        return objection
    }

    /// Tries whether the storage answers, and looks whether the place is still this fleet's.
    /// - Returns: why it is not.
    func probe() async throws(ObjectStorageError) -> String? {
        guard isOwn else { return try await settle() }
        switch try await ownership() {
        case .own: break
        case .nobody: return "the object .pawl/\(owner.name) is gone, which marks the place"
        case let other: return note(Self.objection(to: other, for: owner))
        }
        // Another replica may have begun where the files were moved to.
        guard let kept = try? await keep(storage.location.place, false), kept != storage.location.place else { return nil }
        return note(Self.isElsewhere(kept, owner))
    }

    private func settled() async throws(ObjectStorageError) -> String? {
        let place = storage.location.place
        let before = try await ownership()
        if let objection = Self.objection(to: before, for: owner) { return objection }
        do throws(StoreError) {
            // Files that were moved have the mark with them.
            let kept = try await keep(place, before == .own)
            if kept != place { return Self.isElsewhere(kept, owner) }
        } catch {
            throw .unavailable("the database does not tell whose the place is: \(error)")
        }
        try await storage.mark(for: owner.name, noting: owner.database, within: Self.patience)
        // Another fleet may have marked it in the same moment: whoever sees that gives way.
        let after = try await ownership()
        guard let objection = Self.objection(to: after, for: owner) else { return nil }
        if case .other = after { try await storage.remove(".pawl/\(owner.name)") }
        return objection
    }

    private func ownership() async throws(ObjectStorageError) -> ObjectOwnership {
        try await storage.ownership(for: owner.name, noting: owner.database, within: Self.patience)
    }

    private static func isElsewhere(_ place: String, _ owner: Owner) -> String {
        "this fleet has its files at s3://\(place); if they have been moved, there is an object .pawl/\(owner.name) to be moved with them"
    }

    /// Why a fleet may not keep its files there.
    static func objection(to ownership: ObjectOwnership, for owner: Owner) -> String? {
        switch ownership {
        case .own, .nobody: nil
        case .copy:
            "the files there are of a database that this one is a copy of; name another prefix, or remove the object .pawl/\(owner.name) if that one is no more"
        case .other(let name):
            "the files of another fleet are there; name another prefix, or remove the object .pawl/\(name) if that one is no more"
        }
    }
}
