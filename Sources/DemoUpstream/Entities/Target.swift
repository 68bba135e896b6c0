internal import HTTPCore

/// A request's target, taken apart: what is asked for, and how it is to misbehave.
struct Target: Sendable {
    /// Decoded, without `/faulty/<faults>`.
    let segments: [String]
    let items: [QueryItem]
    let faults: [Fault]
    /// Bytes per second, if the request chooses; 0 is no limit.
    let pace: Int64?
    /// As sent.
    let raw: String
    /// As sent, without what redirects of this server add.
    let key: String
    /// How many redirects came before, or nil on the first request.
    let hop: Int?
    /// The signature that an earlier redirect gave.
    let signature: String?

    /// Why a request can't be understood; a sentence for the body of a 400.
    struct Invalid: Error, Equatable { let message: String }

    init(_ target: RequestTarget) throws(Invalid) {
        guard var segments = target.segments else { throw Invalid(message: "The path is not valid.") }
        let raw = String(decoding: Array(target.raw), as: UTF8.self)
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
        func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
        if let text = value("pace") {
            guard let number = Int64(text), number >= 0 else {
                throw Invalid(message: "pace is a number of bytes per second, 0 for no limit; not \"\(text)\".")
            }
            pace = number
        } else {
            pace = nil
        }
        self.raw = raw
        self.items = items
        self.segments = segments
        self.faults = faults
        hop = value("hop").flatMap(Int.init)
        signature = value("signature")
        let parts = raw.split(separator: "?", maxSplits: 1)
        let kept = (parts.dropFirst().first ?? "").split(separator: "&")
            .filter { !$0.hasPrefix("hop=") && !$0.hasPrefix("signature=") }.joined(separator: "&")
        key = (parts.first ?? "/") + (kept.isEmpty ? "" : "?" + kept)
    }

    /// The first value of a query parameter.
    func value(_ name: String) -> String? { items.first { $0.name == name }?.value }

    /// The same target with one more parameter.
    func adding(_ name: String, _ value: String) -> String {
        key + (key.contains("?") ? "&" : "?") + name + "=" + value
    }
}
