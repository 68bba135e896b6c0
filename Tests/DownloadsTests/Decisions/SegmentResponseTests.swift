import HTTPCore
import Testing

@testable import DownloadCore
@testable import DownloadTransfer
@testable import DownloadStore
@testable import Downloads

struct SegmentResponseTests {
    static let entity = SavedEntity(
        etag: #""v1""#, lastModified: "Sat, 21 Nov 2026 09:00:00 GMT", total: 1000)

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let status: Int
        var change: @Sendable (inout OriginResponse) -> Void = { _ in }
        let expected: Kind
        var testDescription: String { name }
    }

    enum Kind: Equatable, Sendable {
        case part(Int64)
        case contradiction, whole
        case refusal
    }

    static let cases: [Case] = [
        Case(name: "the range that was asked for", status: 206, expected: .part(200)),
        Case(name: "less than was asked for", status: 206, change: { set(&$0, "bytes 100-149/1000", 50) }, expected: .part(150)),
        Case(name: "the tag left out", status: 206, change: { $0.etag = nil }, expected: .contradiction),
        Case(
            name: "another Last-Modified beside the tag", status: 206,
            change: { $0.lastModified = "Sat, 21 Nov 2026 09:00:01 GMT" }, expected: .contradiction),
        Case(
            name: "the same Last-Modified beside the tag", status: 206,
            change: { $0.lastModified = "Sat, 21 Nov 2026 09:00:00 GMT" }, expected: .part(200)),
        Case(name: "another tag", status: 206, change: { $0.etag = #""v2""# }, expected: .contradiction),
        Case(name: "a weak form of the tag", status: 206, change: { $0.etag = #"W/"v1""# }, expected: .contradiction),
        Case(name: "another total", status: 206, change: { set(&$0, "bytes 100-199/1001", 100) }, expected: .contradiction),
        Case(name: "no total", status: 206, change: { set(&$0, "bytes 100-199/*", 100) }, expected: .contradiction),
        Case(name: "another start", status: 206, change: { set(&$0, "bytes 101-199/1000", 99) }, expected: .contradiction),
        Case(
            name: "more than was asked for", status: 206, change: { set(&$0, "bytes 100-200/1000", 101) },
            expected: .contradiction),
        Case(name: "another length than the range's", status: 206, change: { $0.contentLength = 99 }, expected: .contradiction),
        Case(name: "no Content-Range", status: 206, change: { $0.contentRange = nil }, expected: .contradiction),
        Case(
            name: "several parts", status: 206, change: { $0.contentType = "multipart/byteranges; boundary=x" },
            expected: .contradiction),
        Case(name: "a content coding", status: 206, change: { $0.contentEncoding = "gzip" }, expected: .contradiction),
        Case(name: "the whole of the same file", status: 200, change: { $0.contentLength = 1000 }, expected: .whole),
        Case(name: "a 200 without a length", status: 200, change: { $0.contentLength = nil }, expected: .refusal),
        Case(name: "a 200 with the length of the range", status: 200, expected: .refusal),
        Case(name: "a 200 with the range", status: 200, change: { $0.contentRange = "bytes 100-199/1000" }, expected: .refusal),
        Case(
            name: "the whole of another file", status: 200,
            change: {
                $0.contentLength = 1000
                $0.etag = #""v2""#
            }, expected: .contradiction),
        Case(
            name: "the whole without a tag", status: 200,
            change: {
                $0.contentLength = 1000
                $0.etag = nil
            }, expected: .contradiction),
        Case(name: "nothing there", status: 416, expected: .refusal),
        Case(name: "too many requests", status: 429, expected: .refusal),
        Case(name: "unavailable", status: 503, expected: .refusal),
        Case(name: "forbidden", status: 403, expected: .refusal),
        Case(name: "no content", status: 204, expected: .refusal),
    ]

    @Sendable static func set(_ head: inout OriginResponse, _ range: String, _ length: Int64) {
        head.contentRange = range
        head.contentLength = length
    }

    @Test("A response for bytes 100 to 199 of 1000", arguments: cases)
    func evaluates(_ rule: Case) {
        var head = OriginResponse(status: rule.status)
        head.etag = #""v1""#
        if rule.status == 206 { head.contentRange = "bytes 100-199/1000" }
        head.contentLength = 100
        rule.change(&head)
        let kind: Kind =
            switch SegmentResponse(head, range: 100..<200, entity: Self.entity) {
            case .part(let end): .part(end)
            case .contradiction: .contradiction
            case .whole: .whole
            case .refusal: .refusal
            }
        #expect(kind == rule.expected)
    }
}
