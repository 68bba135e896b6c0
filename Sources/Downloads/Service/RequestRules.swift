internal import DownloadCore
internal import HTTPClient
internal import HTTPCore

/// The rules for values of new and changed downloads. Pure.
struct RequestRules: Sendable {
    let destinations: DestinationGuard

    /// Checks a request to download.
    /// - Parameter names: The reserved and published paths.
    /// - Throws: `destinationForbidden`, `invalid`.
    func check(_ new: NewDownload, _ names: FileNames) throws(DownloadError) {
        try check(new.options, new.url, of: nil, names)
    }

    /// Checks a change of a download.
    /// - Parameter names: The reserved and published paths.
    /// - Throws: `destinationForbidden`, `invalid`.
    func check(_ change: DownloadChange, of id: DownloadID, _ names: FileNames) throws(DownloadError) {
        try check(change.options, change.url, of: id, names)
    }

    /// Checks new default webhooks.
    /// - Throws: `destinationForbidden`, `invalid`.
    func check(webhooks: [HTTPURL]) throws(DownloadError) {
        try DownloadLimits.check(webhooks: webhooks)
        for webhook in webhooks { try check(webhook, role: "the webhook") }
    }

    /// - Parameter id: The download; `nil`: a new one.
    private func check(
        _ options: DownloadOptions, _ url: HTTPURL?, of id: DownloadID?, _ names: FileNames
    ) throws(DownloadError) {
        try DownloadLimits.check(options, of: url)
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

    /// Refuses a destination that is forbidden, as far as that is known without a name server.
    /// - Parameter role: The role of the URL for messages; `nil`: it is the download's own URL.
    private func check(_ url: HTTPURL, role: String? = nil) throws(DownloadError) {
        if case .forbidden(let reason) = destinations.evaluate(host: url.host, port: url.port) {
            throw .destinationForbidden(role.map { "\($0) \(reason)" } ?? reason)
        }
    }
}
