internal import HTTPCore

/// A parsed request target: the entity and its faults.
struct Target: Sendable {
    /// The decoded path segments, without `/faulty/<faults>`.
    let segments: [String]
    let items: [QueryItem]
    let faults: [Fault]
    /// The request's limit in bytes per second, where 0 means unlimited; `nil` if it has none.
    let pace: Int64?
    /// The target as sent.
    let raw: String
    /// The key by which requests are counted: the target as sent, but without the archive's node, which changes each
    /// time.
    let counted: String

    /// The reason why a request is invalid, in a sentence for the body of a 400.
    struct Invalid: Error, Equatable { let message: String }

    init(_ target: RequestTarget) throws(Invalid) {
        guard var segments = target.segments else { throw Invalid(message: "The path is not valid.") }
        let items: [QueryItem]
        do {
            items = try target.queryItems()
        } catch {
            throw Invalid(message: "The query is not valid: \(error).")
        }
        var faults: [Fault] = []
        do {
            if segments.first == "faulty", segments.count >= 2 {
                faults += try Fault.parse(segments[1])
                segments.removeFirst(2)
            }
            for item in items where item.name == "fault" { faults += try Fault.parse(item.value) }
        } catch {
            throw Invalid(message: error.message)
        }
        let pace = items.first { $0.name == "pace" }?.value
        if let pace, Int64(pace) ?? -1 < 0 {
            throw Invalid(message: "pace is a number of bytes per second, 0 for no limit; not \"\(pace)\".")
        }
        self.pace = pace.flatMap(Int64.init)
        self.raw = String(decoding: Array(target.raw), as: UTF8.self)
        if let node = segments.first, node.hasPrefix("node-") {
            counted = raw.replacing("/\(node)/", with: "/node/", maxReplacements: 1)
        } else {
            counted = raw
        }
        self.items = items
        self.segments = segments
        self.faults = faults
    }

    /// The first value of a query parameter.
    func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
}
