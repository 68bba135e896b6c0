internal import DownloadCore

/// The error of a refused command as replicas send it to each other: a code, and the values that belong to it.
struct CommandRefusal: Sendable, Equatable {
    let error: DownloadError

    /// Creates the refusal. The sender may try a command that a stopping replica refuses at another one, as after
    /// `overloaded`.
    init(_ error: DownloadError) {
        self.error = error == .shuttingDown ? .overloaded : error
    }

    /// The code and the values, which ``init(_:)-([String])`` decodes.
    var texts: [String] {
        switch error {
        case .notFound: ["not-found"]
        case .illegalTransition(let state, let command): ["illegal-transition", state.rawValue, command]
        case .duplicate(let id): ["duplicate", id.description]
        case .gidInUse(let gid): ["gid-in-use", gid.description]
        case .destinationForbidden(let reason): ["destination-forbidden", reason]
        case .invalid(let reason): ["invalid", reason]
        case .insufficientStorage(let reason): ["insufficient-storage", reason]
        case .notComplete(let state): ["not-complete", state.rawValue]
        case .preconditionFailed: ["precondition-failed"]
        case .keyMismatch: ["key-mismatch"]
        case .overloaded, .shuttingDown: ["overloaded"]
        case .directoryAway: ["directory-away"]
        case .unconfirmed: ["unconfirmed"]
        case .storeFailed(let reason): ["store-failed", reason]
        case .storeAway(let reason): ["store-away", reason]
        }
    }

    /// Decodes ``texts``; `nil`: no release writes such a code or value.
    init?(_ texts: [String]) {
        let value = texts.count > 1 ? texts[1] : ""
        let error: DownloadError? =
            switch texts.first {
            case "not-found": .notFound
            case "illegal-transition":
                DownloadState(rawValue: value).map { .illegalTransition(from: $0, command: texts.last ?? "") }
            case "duplicate": RecordID(value).map { .duplicate($0) }
            case "gid-in-use": DownloadGID(value).map { .gidInUse($0) }
            case "destination-forbidden": .destinationForbidden(value)
            case "invalid": .invalid(value)
            case "insufficient-storage": .insufficientStorage(value)
            case "not-complete": DownloadState(rawValue: value).map { .notComplete($0) }
            case "precondition-failed": .preconditionFailed
            case "key-mismatch": .keyMismatch
            case "overloaded": .overloaded
            case "directory-away": .directoryAway
            case "unconfirmed": .unconfirmed
            case "store-failed": .storeFailed(value)
            case "store-away": .storeAway(value)
            default: nil
            }
        guard let error else { return nil }
        self.error = error
    }
}
