import HTTPCore
import System
import TestSupport

/// An S3-compatible service in memory, which checks only what a test wants.
final class LaxService: Sendable {
    struct Manners: Sendable {
        var comparesSHA256 = false
        var comparesMD5 = false
        var tagsAreMD5 = true
        /// The names of the roots of its documents.
        var roots = (begun: "InitiateMultipartUploadResult", list: "ListBucketResult", uploads: "ListMultipartUploadsResult")
        /// The seconds by which its clock is ahead.
        var lead: Int64 = 0
        /// Whether it refuses signatures of another time.
        var comparesTime = false
    }

    private struct State {
        var objects: [String: [UInt8]] = [:]
        var parts: [Int: [UInt8]] = [:]
        var changesBytes = false
    }

    let origin: ScriptedOrigin
    private let state: Locked<State>

    init(_ manners: Manners) throws {
        let state = Locked(State())
        self.state = state
        origin = try ScriptedOrigin { request in
            let (status, fields, body) = state.withLock { Self.response(to: request, manners, &$0) }
            let now = SystemTime.sinceEpoch / 1_000_000_000
            let date = HTTPDate(secondsSinceEpoch: now + manners.lead).description
            let head = (fields + [(name: "Date", value: date)]).map { "\($0.name): \($0.value)\r\n" }.joined()
            let length = fields.contains { $0.name == "Content-Length" } ? "" : "Content-Length: \(body.count)\r\n"
            return [.send(Array("HTTP/1.1 \(status) Status\r\n\(head)\(length)\r\n".utf8) + body)]
        }
    }

    /// From now on, a byte of each content changes on the way.
    func changeBytes() { state.withLock { $0.changesBytes = true } }

    var objects: [String: [UInt8]] { state.withLock { $0.objects } }

    private typealias Response = (status: Int, fields: [(name: String, value: String)], body: [UInt8])

    private static func fault(_ status: Int, _ code: String) -> Response {
        (status, [], Array("<Error><Code>\(code)</Code><Message>\(code)</Message></Error>".utf8))
    }

    private static func document(_ text: String) -> Response { (200, [], Array(text.utf8)) }

    private static func response(to request: ScriptedOrigin.Request, _ manners: Manners, _ state: inout State) -> Response {
        let target = request.target.split(separator: "?", maxSplits: 1).map(String.init)
        let (path, query) = (target[0], target.count > 1 ? target[1] : "")
        let now = Timestamp(millisecondsSinceEpoch: SystemTime.sinceEpoch / 1_000_000 + manners.lead * 1000)
        if manners.comparesTime, request["x-amz-date"]?.prefix(11) != amz(now).prefix(11) {
            return fault(403, "RequestTimeTooSkewed")
        }
        switch request.method {
        case "PUT": return store(request, at: path, query, manners, &state)
        case "POST" where query == "uploads=":
            state.parts = [:]
            return document("<\(manners.roots.begun)><Key>k</Key><UploadId>u</UploadId></\(manners.roots.begun)>")
        case "POST":
            state.objects[path] = state.parts.sorted { $0.key < $1.key }.flatMap(\.value)
            return document("<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")
        case "DELETE":
            state.objects[path] = nil
            return (204, [], [])
        case "GET" where query.contains("uploads="):
            return document("<\(manners.roots.uploads)><MaxUploads>1000</MaxUploads></\(manners.roots.uploads)>")
        case "GET" where query.contains("list-type=2"):
            return document("<\(manners.roots.list)><IsTruncated>false</IsTruncated></\(manners.roots.list)>")
        default:
            guard let object = state.objects[path] else { return fault(404, "NoSuchKey") }
            if request.method == "HEAD" { return (200, [("Content-Length", "\(object.count)"), ("ETag", "\"t\"")], []) }
            guard let range = request["Range"]?.dropFirst("bytes=".count).split(separator: "-").compactMap({ Int($0) }) else {
                return (200, [], object)
            }
            return (206, [], Array(object[range[0]...range[1]]))
        }
    }

    private static func store(
        _ request: ScriptedOrigin.Request, at path: String, _ query: String, _ manners: Manners, _ state: inout State
    ) -> Response {
        var body = request.body
        if state.changesBytes, !body.isEmpty { body[body.count / 2] ^= 1 }
        if manners.comparesSHA256, request["x-amz-content-sha256"] != Hexadecimal.encode(SHA256.digest(of: body)) {
            return fault(400, "XAmzContentSHA256Mismatch")
        }
        let md5 = FaultTests.digest(body)
        if manners.comparesMD5, let stated = request["Content-MD5"], stated != Base64.encode(md5) {
            return fault(400, "BadDigest")
        }
        if let number = query.split(separator: "&").first(where: { $0.hasPrefix("partNumber=") })?.split(separator: "=").last {
            state.parts[Int(number) ?? 0] = body
        } else {
            state.objects[path] = body
        }
        return (200, [("ETag", "\"\(manners.tagsAreMD5 ? Hexadecimal.encode(md5) : "0123456789abcdef0123456789abcdef")\"")], [])
    }

    /// The beginning of a time in the form `20130524T0000`.
    private static func amz(_ time: Timestamp) -> String {
        String(time.description.prefix(16).filter { $0 != "-" && $0 != ":" })
    }
}
