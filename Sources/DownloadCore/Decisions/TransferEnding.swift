/// The end of a transfer.
package struct TransferEnding: Sendable, Equatable {
    package var outcome: Outcome
    /// The valid bytes of the part file.
    package let written: Coverage
    /// The decision for the next request, with what this attempt has found out.
    package let resume: ResumeDecision
    /// Whether mirrors have brought some of the bytes.
    package let hasMixedSources: Bool
    /// The digests of the whole file that these mirrors have sent.
    package let mirrorDigests: [Checksum]

    package init(outcome: Outcome, written: Coverage, resume: ResumeDecision, hasMixedSources: Bool, mirrorDigests: [Checksum]) {
        self.outcome = outcome
        self.written = written
        self.resume = resume
        self.hasMixedSources = hasMixedSources
        self.mirrorDigests = mirrorDigests
    }

    package enum Outcome: Sendable, Equatable {
        /// Every byte is present.
        case whole
        /// Another request is to follow at once.
        case askAgain(ResumeDecision.Ask)
        /// The quota has no room for the file, or for more of it. The value is its length in
        /// bytes; `nil` if it is unknown.
        case awaitRoom(Int64?)
        /// The bytes of an earlier attempt are not in the part file any more, for this reason.
        case lostBytes(FileError)
        /// An operation on the part file has failed.
        case fileFailed(FileError)
        /// The service stopped the attempt.
        case cancelled
        case failed(DownloadFailure, retryAfter: Duration?)
    }
}
