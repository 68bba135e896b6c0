internal import Foundation

/// A server-sent event.
struct ServerEvent: Equatable {
    var id: String?
    var name = ""
    var data = ""
}

/// A parser of the service's event streams (HTML, section 9.2.6), which takes bytes as they arrive.
struct EventParser {
    private var line: [UInt8] = []
    private var event = ServerEvent()

    /// Parses more bytes, and returns the events that they complete.
    mutating func append(_ bytes: Data) throws -> [ServerEvent] {
        var events: [ServerEvent] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"): if let event = endLine() { events.append(event) }
            case UInt8(ascii: "\r"): break
            default: line.append(byte)
            }
        }
        guard line.count + event.data.utf8.count <= Response.maximumBytes else {
            throw PawlError.noConnection(URLError(.dataLengthExceedsMaximum))
        }
        return events
    }

    private mutating func endLine() -> ServerEvent? {
        defer { line = [] }
        guard !line.isEmpty else {
            defer { event = ServerEvent(id: event.id) }
            return event.data.isEmpty ? nil : event
        }
        let parts = String(decoding: line, as: UTF8.self).split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = String(parts.count > 1 ? parts[1].drop(while: { $0 == " " }) : "")
        switch parts[0] {
        case "event": event.name = value
        case "data": event.data += event.data.isEmpty ? value : "\n\(value)"
        case "id": event.id = value
        default: break
        }
        return nil
    }
}
