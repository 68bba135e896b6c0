internal import CommandLine
internal import DownloadCore
internal import JSON
internal import Terminal

/// A download as the service describes it.
struct RemoteDownload: Sendable, Equatable {
    /// The id, which sorts by creation.
    let id: String
    /// The status.
    var status: TransferStatus
    /// The position in the queue, counted from 1; `nil` if the download is not in it.
    var position: Int64?
    /// The time of the last change other than of its bytes, as RFC 3339 with milliseconds, which sorts as text.
    var updatedAt: String

    /// Parses a resource; `nil` if it is not one.
    init?(_ value: JSONValue) {
        guard let id = value["id"]?.string, let url = value["url"]?.string,
            let state = value["state"]?.string.flatMap(DownloadState.init(rawValue:))
        else { return nil }
        self.id = id
        updatedAt = value["updatedAt"]?.string ?? ""
        position = value["position"]?.integer.flatMap { $0 < .max ? $0 + 1 : nil }
        let folder = value["folder"]?.string.flatMap { $0.isEmpty ? nil : $0 + "/" } ?? ""
        status = TransferStatus(name: TerminalText(value["filename"]?.string.map { folder + $0 } ?? url), state: state)
        status.bytesReceived = value["bytesReceived"]?.integer ?? 0
        status.bytesTotal = value["bytesTotal"]?.integer
        status.bytesPerSecond = value["bytesPerSecond"]?.integer ?? 0
        status.secondsLeft = value["etaSeconds"]?.number
        status.isStalled = value["stalled"]?.bool ?? false
        status.reason = value["error"]?["message"]?.string.map { TerminalText($0) }
    }

    /// The state in one or two words: `stalled` is distinguished, and `queued` has the position.
    var stateText: String {
        switch (status.state, position) {
        case (.downloading, _) where status.isStalled: "stalled"
        case (.queued, let position?): "queued #\(position)"
        default: status.state.rawValue
        }
    }
}
