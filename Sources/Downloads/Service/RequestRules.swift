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
        try DownloadLimits.check(new)
        try check(new.url)
        for url in new.mirrors { try check(url, role: "the mirror") }
        if let webhook = new.webhook { try check(webhook, role: "the webhook") }
        try check(filename: new.filename, folder: new.folder, of: nil, names)
    }

    /// Checks a change of a download.
    /// - Parameter names: The reserved and published paths.
    /// - Throws: `destinationForbidden`, `invalid`.
    func check(_ change: DownloadChange, of id: DownloadID, _ names: FileNames) throws(DownloadError) {
        try DownloadLimits.check(change)
        if let url = change.url { try check(url) }
        for url in change.mirrors ?? [] { try check(url, role: "the mirror") }
        try check(filename: change.filename, folder: change.folder, of: id, names)
    }

    /// Checks new default webhooks.
    /// - Throws: `destinationForbidden`, `invalid`.
    func check(webhooks: [HTTPURL]) throws(DownloadError) {
        try DownloadLimits.check(webhooks: webhooks)
        for webhook in webhooks { try check(webhook, role: "the webhook") }
    }

    /// Refuses names and folders that a file cannot have.
    /// - Parameter id: The download of the file; `nil`: a new one.
    private func check(
        filename: String?, folder: String?, of id: DownloadID?, _ names: FileNames
    ) throws(DownloadError) {
        if let filename, let objection = FileNaming.objection(to: filename) { throw .invalid(objection) }
        guard let folder, !folder.isEmpty else { return }
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
