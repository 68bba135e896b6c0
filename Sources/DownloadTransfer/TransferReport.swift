package import DownloadCore
package import DownloadFiles

/// A message of a transfer to the service. Messages arrive in order.
package struct TransferReport: Sendable {
    package let id: RecordID
    /// The number of the attempt.
    package let operation: UInt64
    package var event: Event

    package enum Event: Sendable {
        /// A response was accepted. An attempt reports this at most once.
        indirect case accepted(TransferAcceptance)
        /// The bytes of the accepted response go to this part file.
        case opened(PartFile)
        /// A mirror is no longer used, for this reason.
        case mirrorDropped(String)
        /// A warning for the log.
        case warning(String)
        /// The attempt has ended, and its sink is not called again. The hasher has followed the valid bytes from the
        /// first one on.
        indirect case ended(TransferEnding, StreamingHasher)
    }
}
