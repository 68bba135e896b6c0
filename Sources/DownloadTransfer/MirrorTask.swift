package import DownloadCore

/// The task of mirrors after a transfer's first source has failed, if no other connection runs.
///
/// Bytes of two sources are combined only if the whole file is verified afterwards. Without such a proof, a
/// mirror can only replace the first source, from byte 0. Present bytes are discarded for it only if the
/// download would fail otherwise.
package enum MirrorTask: Sendable, Equatable {
    /// Mirrors cannot do better, have been used already, or the first source may recover.
    case nothing
    /// The next mirror takes the first source's place, and describes the file anew.
    case everything
    /// Mirrors fetch the missing ranges of a file of `total` bytes. Each of them has to agree with the first source's
    /// description of the file.
    case rest(total: Int64)

    /// The progress of the transfer.
    package struct Progress: Sendable {
        /// Whether bytes of the file that the first source described are present.
        package var hasBytes = false
        /// The length of that file in bytes; `nil` if it is unknown.
        package var total: Int64?
        /// Whether every byte of that file is present.
        package var isWhole = false
        /// Whether a digest can verify the whole file: the client's, or one that the first source sent.
        package var isProven = false
        /// Whether segments have contradicted each other, so that one connection has to fetch everything.
        package var usesOneStream = false
        /// Whether mirrors have been given the rest before, in this attempt.
        package var hasHandedOver = false
        /// Whether the first source would not be asked again.
        package var isLastAttempt = false
    }

    package init(after failure: DownloadFailure, _ progress: Progress) {
        switch failure.code {
        // These failures are of this machine, so another source cannot help.
        case .ioError, .insufficientStorage: self = .nothing
        case _ where progress.isWhole || progress.hasHandedOver: self = .nothing
        case _ where !progress.hasBytes: self = .everything
        // After a contradiction, it is unknown which bytes belong together. Without a length,
        // ranges cannot be requested.
        case let code where progress.isProven && code != .entityChanged && !progress.usesOneStream && progress.total != nil:
            self = progress.total.map { .rest(total: $0) } ?? .nothing
        default: self = !failure.retryable || progress.isLastAttempt ? .everything : .nothing
        }
    }
}
