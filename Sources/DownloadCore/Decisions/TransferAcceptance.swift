package import HTTPCore

/// The values of an accepted response.
package struct TransferAcceptance: Sendable {
    package let body: ResumeDecision.Body
    /// The bytes of its file that are present already.
    package let written: Coverage
    /// Whether earlier bytes were discarded for these.
    package let startedOver: Bool
    /// Whether the store may still count on bytes of an earlier part file.
    package let isReplacement: Bool
    /// The generation of the part file that the bytes go to.
    package let partGeneration: UInt64?
    package let mediaType: String?
    package let contentDisposition: String?
    /// The URL of the response, after redirects; `nil` if the accepted response is one of an earlier attempt.
    package var finalURL: HTTPURL?
    /// The mirrors that the origin has announced with the digest of the body's entity.
    package var announcedMirrors: [String] = []

    package init(
        body: ResumeDecision.Body, written: Coverage, startedOver: Bool, isReplacement: Bool, partGeneration: UInt64?,
        mediaType: String?, contentDisposition: String?, finalURL: HTTPURL? = nil,
        announcedMirrors: [String] = []
    ) {
        self.body = body
        self.written = written
        self.startedOver = startedOver
        self.isReplacement = isReplacement
        self.partGeneration = partGeneration
        self.mediaType = mediaType
        self.contentDisposition = contentDisposition
        self.finalURL = finalURL
        self.announcedMirrors = announcedMirrors
    }
}
