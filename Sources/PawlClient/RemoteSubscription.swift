internal import HTTPCore
internal import JSON
internal import Terminal

/// A subscription as the service describes it.
struct RemoteSubscription: Sendable, Equatable {
    /// The id.
    let id: String
    /// The name of the work; before the first check, its address, id or term.
    let name: TerminalText
    /// `active`, `paused` or `gone`.
    let state: String
    /// The number of items whose downloads are kept.
    let taken: Int64
    /// The number of items that have ever become downloads.
    let everTaken: Int64
    /// The number of items that are taken when the subscription is resumed.
    let new: Int64
    /// The time of the last check; `nil` before the first.
    let checkedAt: Timestamp?
    /// The time of the next check; `nil` if none is planned.
    let nextCheckAt: Timestamp?
    /// The reason for which the last check failed; `nil` if it succeeded.
    let failure: TerminalText?
    /// The choice among the items of the first check, in words.
    let choice: String

    /// Parses a resource; `nil` if it is not one.
    init?(_ value: JSONValue) {
        guard let id = value["id"]?.string, let name = value["name"]?.string, let state = value["state"]?.string,
            let items = value["items"]
        else { return nil }
        self.id = id
        self.name = TerminalText(name)
        self.state = state
        taken = items["taken"]?.integer ?? 0
        everTaken = taken &+ (items["expired"]?.integer ?? 0)
        new = items["new"]?.integer ?? 0
        checkedAt = value["checkedAt"]?.string.flatMap { Timestamp(parsing: $0) }
        nextCheckAt = value["nextCheckAt"]?.string.flatMap { Timestamp(parsing: $0) }
        failure = value["error"]?["message"]?.string.map { TerminalText($0) }
        choice =
            switch (value["take"]?.string, value["take"]?["latest"]?.integer) {
            case ("all", _): "takes all items"
            case (_, 1?): "takes the newest item and new ones"
            case (_, let count?): "takes the newest \(count) items and new ones"
            default: "takes new items"
            }
    }

    /// The next check, or the reason why there is none.
    func next(_ now: Timestamp) -> String {
        if state == "gone" { return "its feed has ended" }
        return nextCheckAt.map { "next check in \(Self.span(from: now, to: $0))" } ?? "is \(state)"
    }

    /// The difference of two times; that to an earlier time is zero.
    static func span(from start: Timestamp, to end: Timestamp) -> String {
        HumanReadable.time(seconds: Double(end.millisecondsSinceEpoch - start.millisecondsSinceEpoch) / 1000)
    }

    /// The style of the state.
    var style: Style {
        switch state {
        case "gone": .bad
        case "active": failure == nil ? .good : .bad
        default: .waiting
        }
    }
}
