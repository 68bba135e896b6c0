internal import HTTPCore

/// A message of a transfer to the service. Messages arrive in order.
struct TransferReport: Sendable {
    let id: DownloadID
    /// The number of the attempt.
    let generation: UInt64
    let event: Event

    enum Event: Sendable {
        /// A response was accepted, and its bytes go to this part file. An attempt reports this at most once.
        case accepted(Acceptance, PartFile)
        /// A mirror is no longer used, for this reason.
        case mirrorDropped(String)
        /// A warning for the log.
        case warning(String)
        /// The attempt has ended, and its sink is not called again. The hasher has followed the valid bytes from the
        /// first one on.
        case ended(Ending, StreamingHasher)
    }

    /// The values of an accepted response.
    struct Acceptance: Sendable {
        let body: ResumeDecision.Body
        /// The bytes of its file that are present already.
        let written: Coverage
        /// Whether earlier bytes were discarded for these.
        let startedOver: Bool
        /// Whether the store may still count on bytes of an earlier part file.
        let isReplacement: Bool
        /// The generation of the part file that the bytes go to.
        let partGeneration: UInt64?
        let mediaType: String?
        let contentDisposition: String?
        /// The URL of the response, after redirects; `nil` if the accepted response is one of an earlier attempt.
        var finalURL: HTTPURL?
    }

    /// The end of a transfer.
    struct Ending: Sendable, Equatable {
        let outcome: Outcome
        /// The valid bytes of the part file.
        let written: Coverage
        /// The decision for the next request, with what this attempt has found out.
        let resume: ResumeDecision
        /// Whether mirrors have brought some of the bytes.
        let hasMixedSources: Bool
        /// The digests of the whole file that these mirrors have sent.
        let mirrorDigests: [Checksum]

        enum Outcome: Sendable, Equatable {
            /// Every byte is present.
            case whole
            /// Another request is to follow at once.
            case askAgain(ResumeDecision.Ask)
            /// The quota has no room for the file, or for more of it. The value is its length in
            /// bytes; `nil` if it is unknown.
            case awaitRoom(Int64?)
            /// The service stopped the attempt.
            case cancelled
            case failed(DownloadFailure, retryAfter: Duration?)
        }
    }
}
