internal import DownloadCore
internal import HTTPClient
internal import HTTPCore

/// The rules for values of new and changed downloads. Pure.
struct RequestRules: Sendable {
    let destinations: DestinationGuard

    /// Checks a new or changed download.
    /// - Parameters:
    ///   - id: The changed download; `nil`: a new one.
    ///   - names: The reserved and published paths.
    /// - Throws: `destinationForbidden`, `invalid`.
    func check(
        _ options: DownloadOptions, _ url: HTTPURL?, of id: RecordID?, _ names: FileNames
    ) throws(DownloadError) {
        if let bytes = options.track?.count, bytes > DownloadLimits.track {
            throw .invalid("the track has \(bytes) bytes; it takes at most \(DownloadLimits.track)")
        }
        if let url { try check(url) }
        for url in options.mirrors ?? [] { try check(url, role: "the mirror") }
        if let webhook = options.webhook { try check(webhook, role: "the webhook") }
        if let filename = options.filename, let objection = FileNaming.objection(to: filename) { throw .invalid(objection) }
        guard let folder = options.folder, !folder.isEmpty else { return }
        if let objection = FileNaming.objection(toFolder: folder) { throw .invalid(objection) }
        // A download waits for a file system.
        if let objection = names.objection(toFolder: FileNaming.normalised(folder), for: id), objection.kind == .other {
            throw .invalid(objection.message)
        }
    }

    /// Checks new default webhooks.
    /// - Throws: `destinationForbidden`, `invalid`.
    func check(webhooks: [HTTPURL]) throws(DownloadError) {
        guard webhooks.count <= DefaultWebhooks.limit else {
            throw .invalid("there are \(webhooks.count) webhooks; the settings take at most \(DefaultWebhooks.limit)")
        }
        for webhook in webhooks { try check(webhook, role: "the webhook") }
    }

    /// Refuses a URL that is too long, and a destination that is forbidden, as far as that is known without a name server.
    /// - Parameter role: The role of the URL for messages; `nil`: it is the download's own URL.
    private func check(_ url: HTTPURL, role: String? = nil) throws(DownloadError) {
        // A character has up to four bytes, and each has three once it is percent-encoded.
        guard url.string.utf8.count <= 12 * DownloadLimits.url else {
            throw .invalid("\(role ?? "the URL") is too long; it takes at most \(DownloadLimits.url) characters")
        }
        if case .forbidden(let reason) = destinations.evaluate(host: url.host, port: url.port) {
            throw .destinationForbidden(role.map { "\($0) \(reason)" } ?? reason)
        }
    }
}
