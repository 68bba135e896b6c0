package import JSON

/// The time limits that a client has chosen for a download's requests, in seconds; 0 is no limit.
///
/// `nil` leaves a limit to the service's option. See ``DownloadLimits/timeouts`` for the possible values.
public struct Timeouts: Sendable, Equatable {
    /// The longest wait for a connection.
    public let connect: Int?
    /// The longest wait for the head of a response, once the connection is there.
    public let response: Int?
    /// The longest time without a byte of a body.
    public let stall: Int?

    /// Creates a choice of limits: the nearest ones in ``DownloadLimits/timeouts``.
    public init(connect: Int? = nil, response: Int? = nil, stall: Int? = nil) {
        self.connect = connect.map(DownloadLimits.timeouts.nearest(to:))
        self.response = response.map(DownloadLimits.timeouts.nearest(to:))
        self.stall = stall.map(DownloadLimits.timeouts.nearest(to:))
    }

    /// Whether all limits are left to the service's options.
    public var isEmpty: Bool { self == Timeouts() }

    /// The limits by their names in the API.
    public var members: [(name: String, seconds: Int?)] {
        [("connect", connect), ("response", response), ("stall", stall)]
    }
}

extension Timeouts {
    /// The JSON object of the chosen limits.
    package var json: JSONValue {
        .object(
            members.compactMap { name, seconds in
                seconds.map { JSONMember(name: name, value: .integer(Int64($0))) }
            })
    }

    /// Reads the object of ``json``; `nil` for a value that no client can have chosen.
    package init?(json: JSONValue) {
        func seconds(_ name: String) -> Int?? {
            guard let value = json[name] else { return .some(nil) }
            guard let number = value.integer, DownloadLimits.timeouts.contains(Int(clamping: number)) else { return nil }
            return Int(clamping: number)
        }
        guard json.members != nil, let connect = seconds("connect"), let response = seconds("response"),
            let stall = seconds("stall")
        else { return nil }
        self.init(connect: connect, response: response, stall: stall)
    }
}
