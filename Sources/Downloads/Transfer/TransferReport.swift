internal import HTTPCore

/// What a transfer tells the service, in order.
struct TransferReport: Sendable {
    let id: DownloadID
    /// The attempt that speaks.
    let generation: UInt64
    let event: Event

    enum Event: Sendable {
        /// A response was accepted, and its bytes will be placed in this file: once in an attempt at most.
        case accepted(Acceptance, PartFile)
        /// A mirror is asked no more, and why.
        case mirrorDropped(String)
        /// Something worth a line in the log.
        case warning(String)
        /// The attempt is over; its sink will not be called again. The hasher has followed the valid bytes from the first one on.
        case ended(Ending, StreamingHasher)
    }

    /// What a response that was accepted says.
    struct Acceptance: Sendable {
        let body: ResumeDecision.Body
        /// The bytes of it that there are already.
        let written: Coverage
        /// Whether earlier bytes were given up for these.
        let startedOver: Bool
        /// Whether the store may still count on bytes of an earlier part file.
        let isReplacement: Bool
        /// The generation of the part file that the bytes go to.
        let partGeneration: UInt64?
        let mediaType: String?
        let contentDisposition: String?
        /// The URL of the response, after redirects; `nil`: the acceptance is of an earlier attempt's response.
        var finalURL: HTTPURL?
    }

    /// The end of a transfer.
    struct Ending: Sendable, Equatable {
        let outcome: Outcome
        /// Bytes of the part file that are valid.
        let written: Coverage
        /// What was learnt for the next request.
        let resume: ResumeDecision
        /// Whether mirrors have brought some of the bytes.
        let hasMixedSources: Bool
        /// What those mirrors say that the whole file hashes to.
        let mirrorDigests: [Checksum]

        enum Outcome: Sendable, Equatable {
            /// All bytes are there.
            case whole
            /// The origin should be asked differently, at once.
            case askAgain(ResumeDecision.Ask)
            /// The quota has no room for the file, or for more of it: its length in bytes, if that is known.
            case awaitRoom(Int64?)
            /// Stopped because it was told to.
            case cancelled
            case failed(DownloadFailure, retryAfter: Duration?)
        }
    }
}
