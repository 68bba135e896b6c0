/// What mirrors are asked for when a transfer's first source has failed and no other connection runs.
enum MirrorTask: Sendable, Equatable {
    /// Nothing: they could not do better, or have had their turn.
    case nothing
    /// All of the file: the next one takes the first source's place, and says anew what the file is.
    case everything
    /// What is missing of a file of `total` bytes, in ranges, each in agreement with what the first source said of it.
    case rest(total: Int64)

    /// How far the transfer has come.
    struct Standing: Sendable {
        /// Whether there are bytes of what the first source said the file is, or a file for them.
        var hasBegun = false
        /// The length of that file in bytes; `nil`: unknown.
        var total: Int64?
        /// Whether every byte of it is there.
        var isWhole = false
        /// Whether segments have contradicted each other, so that one connection has to bring everything.
        var usesOneStream = false
        /// Whether mirrors were to bring the rest before, in this attempt.
        var hasHandedOver = false
    }

    init(after failure: FailureCode, _ standing: Standing) {
        switch failure {
        // Of this machine: nobody else could do anything about it.
        case .ioError, .insufficientStorage: self = .nothing
        case _ where !standing.hasBegun: self = .everything
        // Which of the bytes belong together is not known.
        case .entityChanged: self = .nothing
        default:
            // Without a length there are no ranges to ask for.
            guard let total = standing.total, !standing.isWhole, !standing.usesOneStream, !standing.hasHandedOver else {
                self = .nothing
                return
            }
            self = .rest(total: total)
        }
    }
}
