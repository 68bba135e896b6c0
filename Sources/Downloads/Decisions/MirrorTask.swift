/// What mirrors are asked for when a transfer's first source has failed and no other connection runs.
///
/// Bytes of two sources are combined only where the whole is verified afterwards. Without such a proof a mirror can but replace the first
/// source, from byte 0; bytes that are there are given up for that only where the download would fail otherwise.
enum MirrorTask: Sendable, Equatable {
    /// Nothing: they could not do better, have had their turn, or the first source may come back.
    case nothing
    /// All of the file: the next one takes the first source's place, and says anew what the file is.
    case everything
    /// What is missing of a file of `total` bytes, in ranges, each in agreement with what the first source said of it.
    case rest(total: Int64)

    /// How far the transfer has come.
    struct Progress: Sendable {
        /// Whether there are bytes of what the first source said the file is.
        var hasBytes = false
        /// The length of that file in bytes; `nil`: unknown.
        var total: Int64?
        /// Whether every byte of it is there.
        var isWhole = false
        /// Whether there is a digest that the whole is verified against: the client's, or one that the first source sent.
        var isProven = false
        /// Whether segments have contradicted each other, so that one connection has to bring everything.
        var usesOneStream = false
        /// Whether mirrors were to bring the rest before, in this attempt.
        var hasHandedOver = false
        /// Whether the first source would not be asked again.
        var isLastAttempt = false
    }

    init(after failure: DownloadFailure, _ progress: Progress) {
        switch failure.code {
        // Of this machine: nobody else could do anything about it.
        case .ioError, .insufficientStorage: self = .nothing
        case _ where progress.isWhole || progress.hasHandedOver: self = .nothing
        case _ where !progress.hasBytes: self = .everything
        // Which of the bytes belong together is not known after a contradiction; and without a length there are no ranges to ask for.
        case let code where progress.isProven && code != .entityChanged && !progress.usesOneStream && progress.total != nil:
            self = progress.total.map { .rest(total: $0) } ?? .nothing
        default: self = !failure.retryable || progress.isLastAttempt ? .everything : .nothing
        }
    }
}
