internal import HTTPCore

/// What a transfer tells the service, in order.
struct TransferReport: Sendable {
    let id: DownloadID
    /// The attempt that speaks.
    let generation: UInt64
    let event: Event

    enum Event: Sendable {
        /// A response was accepted and bytes will be placed: once in an attempt at most.
        case accepted(Accepted)
        /// A mirror is asked no more, and why.
        case mirrorDropped(String)
        /// Something worth a line in the log.
        case warning(String)
        /// The attempt is over; its sink will not be called again.
        case ended(Ending)
    }

    /// What the head said of the entity.
    struct Accepted: Sendable {
        let body: ResumeDecision.Body
        /// The bytes of it that there are already.
        let written: Coverage
        /// Whether earlier bytes were given up for these.
        let startedOver: Bool
        let part: PartFile
        /// Whether `part` is the replacement of one whose bytes the store still counts on.
        let isReplacement: Bool
        let mediaType: String?
        let contentDisposition: String?
    }

    struct Ending: Sendable {
        let outcome: Outcome
        /// Bytes of the part file that are valid.
        let written: Coverage
        /// Hashes them, from the first one on.
        let hasher: StreamingHasher
        /// What was learnt for the next question.
        let resume: ResumeDecision
        /// Whether mirrors have brought some of the bytes.
        let hasMixedSources: Bool
        /// What those mirrors say that the whole file hashes to.
        let mirrorDigests: [Checksum]
    }

    enum Outcome: Sendable, Equatable {
        /// All bytes are there.
        case whole
        /// The origin should be asked differently, at once.
        case askAgain(ResumeDecision.Ask)
        /// Stopped because it was told to.
        case cancelled
        case failed(DownloadFailure, retryAfter: Duration?)
    }
}
