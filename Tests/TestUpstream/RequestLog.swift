public import HTTPCore
import System

/// A request that the upstream received, and its response.
public struct LoggedRequest: Sendable {
    /// The method as sent, such as `GET`.
    public let method: String
    /// The target as sent, with its query.
    public let target: String
    /// All fields of the request.
    public let fields: Fields
    /// The status code of the response.
    public let status: Int
    /// The bytes of the response's body handed to the connection so far; the last of them may not have arrived.
    public internal(set) var bytesSent: Int64 = 0
    /// Whether the response has ended, completely or not.
    public internal(set) var isFinished = false

    /// The Range field, as sent.
    public var range: String? { fields[.range] }
    /// The If-Range field, as sent.
    public var ifRange: String? { fields[.ifRange] }
    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }
}

extension LoggedRequest: CustomStringConvertible {
    /// One line: `GET /large/field-recording-1.bin bytes=1048576- → 206, 524288 bytes sent`.
    public var description: String {
        "\(method) \(target)\(range.map { " " + $0 } ?? "") → \(status), \(bytesSent) bytes sent"
    }
}

/// The latest requests, in the order in which their responses began. Bounded: the oldest are removed.
final class RequestLog: Sendable {
    private struct State {
        var requests: [LoggedRequest] = []
        /// The number of the first request.
        var first = 0
    }

    private static let capacity = 2_000
    private let state = Locked(State())

    var requests: [LoggedRequest] { state.withLock { $0.requests } }

    /// Adds a request and returns its number.
    func append(_ request: LoggedRequest) -> Int {
        state.withLock { state in
            if state.requests.count >= Self.capacity {
                state.requests.removeFirst(Self.capacity / 2)
                state.first += Self.capacity / 2
            }
            state.requests.append(request)
            return state.first + state.requests.count - 1
        }
    }

    /// Adds to the sent bytes of the request with this number.
    func send(_ count: Int, of number: Int) {
        state.withLock { state in
            guard number >= state.first else { return }
            state.requests[number - state.first].bytesSent += Int64(count)
        }
    }

    /// Ends a request.
    func finish(_ number: Int) {
        state.withLock { state in
            guard number >= state.first else { return }
            state.requests[number - state.first].isFinished = true
        }
    }
}
