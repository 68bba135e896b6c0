package import DownloadCore
package import ObjectStorage
internal import System

/// The location in object storage where a fleet keeps its files. It is marked with the names of the fleet and its
/// database.
///
/// Objects at the location that no record names are removed. So it must not belong to another fleet, or to the original
/// of a copied database. The database stores the location, so that all replicas use the same one.
package final class ObjectPlace: Sendable {

    /// Requests that take longer than the patience are repeated later.
    private let storage: ObjectStorage
    private let owner: ObjectOwner
    private let keep: @Sendable (String, Bool) async throws(StoreError) -> String
    private let state = Locked(State.unknown)

    private enum State {
        case unknown, own, refused
    }

    /// The maximum duration of a request.
    private static let patience: Duration = .seconds(3)

    /// Creates a location whose ownership is unknown.
    /// - Parameter keep: Stores the location in the database if it has none or if `replacing`, and returns the stored
    ///   one.
    package init(
        _ storage: ObjectStorage, _ owner: ObjectOwner,
        keep: @escaping @Sendable (_ place: String, _ replacing: Bool) async throws(StoreError) -> String
    ) {
        self.storage = storage.hurried(within: Self.patience)
        self.owner = owner
        self.keep = keep
    }

    /// Whether the location is known to be this fleet's. Otherwise nothing is stored or removed there.
    package var isOwn: Bool { state.withLock { $0 == .own } }
    /// Whether the location is known not to be this fleet's. Finished files of this replica would then wait forever.
    package var isRefused: Bool { state.withLock { $0 == .refused } }

    /// Determines whether the location belongs to this fleet, and marks it.
    /// - Returns: The reason that it does not; `nil` if it does.
    package func settle() async throws(ObjectStorageError) -> String? {
        if isOwn { return nil }
        return note(try await settled())
    }

    /// Tests the storage again before the next file is stored, because it stored one wrongly.
    package func doubt() {
        state.withLock { if $0 == .own { $0 = .unknown } }
    }

    private func note(_ objection: String?) -> String? {
        state.withLock { $0 = objection == nil ? .own : .refused }
        return objection
    }

    /// Tests whether the storage responds, and whether the location still belongs to this fleet.
    /// - Returns: The reason that it does not; `nil` if it does.
    package func probe() async throws(ObjectStorageError) -> String? {
        guard isOwn else { return try await settle() }
        switch try await ownership() {
        case .own: break
        case .unowned: return "the object .pawl/\(owner.name) is gone, which marks the place"
        case let other: return note(Self.objection(to: other, for: owner))
        }
        // Another replica may have started with a location to which the files were moved.
        guard let kept = try? await keep(storage.location.place, false), kept != storage.location.place else { return nil }
        return note(Self.isElsewhere(kept, owner))
    }

    private func settled() async throws(ObjectStorageError) -> String? {
        let place = storage.location.place
        let before = try await ownership()
        if let objection = Self.objection(to: before, for: owner) { return objection }
        // A sweep removes what a broken trial has left.
        try await storage.tryUpload(to: ObjectKey(id: RecordID(value: 0), upload: .random(in: 0...Int64.max)).description)
        do throws(StoreError) {
            // Files that were moved here have brought the mark with them.
            let kept = try await keep(place, before == .own)
            if kept != place { return Self.isElsewhere(kept, owner) }
        } catch {
            throw .unavailable("the database does not tell whose the place is: \(error)")
        }
        try await storage.mark(for: owner.name, noting: owner.database)
        // Another fleet may have marked the location at the same moment. A fleet that sees the other's mark gives way.
        let after = try await ownership()
        guard let objection = Self.objection(to: after, for: owner) else { return nil }
        if case .other = after { try await storage.remove(".pawl/\(owner.name)") }
        return objection
    }

    private func ownership() async throws(ObjectStorageError) -> ObjectOwnership {
        try await storage.ownership(for: owner.name, noting: owner.database)
    }

    private static func isElsewhere(_ place: String, _ owner: ObjectOwner) -> String {
        "this fleet has its files at s3://\(place); if they have been moved, there is an object .pawl/\(owner.name) to be moved with them"
    }

    /// Returns the reason that a fleet must not keep its files at a location; `nil` if it may.
    package static func objection(to ownership: ObjectOwnership, for owner: ObjectOwner) -> String? {
        switch ownership {
        case .own, .unowned: nil
        case .copy:
            "the files there are of a database that this one is a copy of; name another prefix, or remove the object .pawl/\(owner.name) if that one is no more"
        case .other(let name):
            "the files of another fleet are there; name another prefix, or remove the object .pawl/\(name) if that one is no more"
        }
    }
}
