internal import CommandLine
internal import Downloads
internal import JSON
internal import Terminal

/// A download as a service shows it.
struct RemoteDownload: Sendable, Equatable {
    /// Its identifier: sorts by creation.
    let id: String
    /// How it stands.
    var status: TransferStatus
    /// Its place among all that wait to begin, counted from 1; `nil` if it does not.
    var place: Int64?
    /// When anything but its bytes last changed; RFC 3339 with milliseconds, so that it sorts as text.
    var updatedAt: String

    /// Reads a resource; `nil` if it is none.
    init?(_ value: JSONValue) {
        guard let id = value["id"]?.string, let url = value["url"]?.string,
            let state = value["state"]?.string.flatMap(DownloadState.init(rawValue:))
        else { return nil }
        self.id = id
        updatedAt = value["updatedAt"]?.string ?? ""
        place = value["position"]?.integer.flatMap { $0 < .max ? $0 + 1 : nil }
        let folder = value["folder"]?.string.flatMap { $0.isEmpty ? nil : $0 + "/" } ?? ""
        status = TransferStatus(name: TerminalText(value["filename"]?.string.map { folder + $0 } ?? url), state: state)
        status.bytesReceived = value["bytesReceived"]?.integer ?? 0
        status.bytesTotal = value["bytesTotal"]?.integer
        status.bytesPerSecond = value["bytesPerSecond"]?.integer ?? 0
        status.secondsLeft = value["etaSeconds"]?.number
        status.isStalled = value["stalled"]?.bool ?? false
        status.reason = value["error"]?["message"]?.string.map { TerminalText($0) }
    }

    /// Its state in a word or two: a stalled one is told apart, and a queued one has its place.
    var stateText: String {
        switch (status.state, place) {
        case (.downloading, _) where status.isStalled: "stalled"
        case (.queued, let place?): "queued #\(place)"
        default: status.state.rawValue
        }
    }
}
