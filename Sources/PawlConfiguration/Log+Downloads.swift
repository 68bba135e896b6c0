public import DownloadCore
internal import HTTPCore

extension Log {
    /// Writes the log line of an event.
    public func write(_ event: DownloadLogEvent) {
        switch event {
        case .transition(let download):
            let level: LogLevel = download.state == .failed ? .warning : .info
            guard writes(level) else { return }
            write(level, "download is \(download.state.rawValue)", values(of: download))
        case .removed(let id):
            guard writes(.info) else { return }
            write(.info, "download is removed", [("id", .text(id.description))])
        case .retry(let download, let delay):
            write(.info, "download is tried again", values(of: download) + [("after", .milliseconds(delay))])
        case .startedOver(let id, let reason):
            write(.warning, "download starts over", [("id", .text(id.description)), ("reason", .text(reason))])
        case .webhook(let delivery, let subject, .retried(let reason, isFirst: true)):
            write(.warning, "webhook delivery is tried again", values(of: delivery, about: subject, reason))
        case .webhook(let delivery, let subject, .abandoned(let reason)):
            write(.warning, "webhook delivery is abandoned", values(of: delivery, about: subject, reason))
        case .mirrorDropped(let id, let reason):
            write(.warning, "mirror is dropped", [("id", .text(id.description)), ("reason", .text(reason))])
        case .storage(let condition):
            let degraded = condition.degraded.map(\.rawValue).joined(separator: ",")
            if let reason = condition.unreadable {
                write(.error, "the store cannot be read", [("reason", .text(reason))])
            } else if !condition.degraded.isEmpty {
                let reason = condition.reason ?? ""
                write(.warning, "storage is degraded", [("degraded", .text(degraded)), ("reason", .text(reason))])
            } else {
                write(.info, "storage works again")
            }
        case .gate(.quota):
            write(.warning, "no download starts: the files use all bytes that --quota allows")
        case .gate(.volume): break
        case .gate(.some):
            write(.warning, "no download starts: the disk is full, or has fewer free bytes than --min-free requires")
        case .gate(nil): write(.info, "downloads start again")
        case .expired(let count, let withFiles):
            writeAlways(
                "expired records\(withFiles ? " and their files" : "") are removed",
                [("count", .integer(Int64(count)))])
        case .objectStorage(let reason?): write(.error, "the object storage is unreachable, and finished files wait: \(reason)")
        case .volume(let reason?):
            write(
                .error, "the downloads directory is away, and transfers wait",
                [("degraded", .text("downloads-directory-away")), ("reason", .text(reason))])
        case .volume(nil): write(.info, "the downloads directory is available again")
        case .recordsGone(let reason): write(.error, "\(reason): the service ends, and has to start again")
        case .objectStorage(nil): write(.info, "the object storage is reachable again")
        case .joined(let run): write(.info, "this replica has joined its fleet", [("run", .integer(run))])
        case .adopted(let replicas, let downloads):
            let values: [(name: String, value: Value)] = [
                ("replicas", .integer(Int64(replicas))), ("downloads", .integer(Int64(downloads))),
            ]
            write(.warning, "replicas have ended, and others can take over their downloads", values)
        case .fenced: write(.error, "the lease is lost: other replicas take over, and this one writes nothing more")
        case .discarded(let id):
            write(
                .warning, "download is discarded: the database has refused its record, and another replica continues it",
                [("id", .text(id.description))])
        // These events are only counted.
        case .started, .committed, .followed, .stored, .webhook: break
        case .warning(let text):
            write(.warning, text)
        }
    }

    private func values(
        of delivery: RecordID, about subject: RecordID?, _ reason: String
    ) -> [(name: String, value: Value)] {
        (subject.map { [("id", .text($0.description))] } ?? [])
            + [("delivery", .text(delivery.description)), ("reason", .text(reason))]
    }

    private func values(of download: Download) -> [(name: String, value: Value)] {
        var values: [(name: String, value: Value)] = [
            ("id", .text(download.id.description)),
            ("url", .text(Self.withoutSecrets(download.url))),
            ("bytesReceived", .integer(download.bytesReceived)),
        ]
        if let total = download.bytesTotal { values.append(("bytesTotal", .integer(total))) }
        if let filename = download.filename { values.append(("filename", .text(filename))) }
        if !download.folder.isEmpty { values.append(("folder", .text(download.folder))) }
        if let error = download.error {
            values += [("error", .text(error.code.rawValue)), ("reason", .text(error.message))]
            if let status = error.httpStatus { values.append(("httpStatus", .integer(Int64(status)))) }
        }
        return values
    }

    /// The URL without its query and user information, which may contain signatures and passwords.
    public static func withoutSecrets(_ url: String) -> String {
        guard let url = HTTPURL(url) else { return "(unreadable)" }
        return "\(url.scheme)://\(url.authority)\(url.path)\(url.query == nil ? "" : "?...")"
    }
}
