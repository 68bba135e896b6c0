import Foundation
import HTTPCore
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadStore
@testable import Downloads

/// Every rule of resuming, with an origin that breaks it, down to the last byte of the finished file.
@Suite("Resumes from faulty origins", .timeLimit(.minutes(3)))
struct ResumeRulesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        /// The origin's behaviour besides its size and seed.
        let query: String
        /// The Range field of each request, in order.
        let ranges: [String?]
        /// The required If-Range of these requests: a strong tag, a date, or none.
        var conditions: [Condition] = []
        /// The edition of the entity that the finished file must be.
        var edition = 1
        var resumable: Bool?

        var testDescription: String { name }
    }

    enum Condition: Sendable, Equatable {
        case none, tag, date
    }

    static let size = 300_000
    static let half = range(continuing: 150_000)

    static let cases: [Case] = [
        Case(
            name: "a reset transfer is resumed with Range and If-Range by strong tag",
            query: "fault=reset@150000;times=1", ranges: [nil, half], conditions: [.none, .tag], resumable: true),
        Case(
            name: "a truncated body is a broken transfer, and is resumed",
            query: "fault=truncate@150000;times=1", ranges: [nil, half], conditions: [.none, .tag], resumable: true),
        Case(
            name: "a strong date serves where there is no tag",
            query: "etag=none&fault=reset@150000;times=1", ranges: [nil, half], conditions: [.none, .date], resumable: true),
        Case(
            name: "a weak tag is no validator, and never mixed with its date",
            query: "lastmodified=none&fault=weak-etag,reset@150000;times=1", ranges: [nil, nil], resumable: false),
        Case(
            name: "an old date beside a weak tag is continued without If-Range",
            query: "fault=weak-etag,reset@150000;times=1", ranges: [nil, half], conditions: [.none, .none], resumable: true),
        Case(
            name: "a date of the last second is weak",
            query: "etag=none&lastmodified=recent&fault=reset@150000;times=1", ranges: [nil, nil], resumable: false),
        Case(
            name: "without a validator nothing is appended, though the origin offers ranges",
            query: "fault=no-validator,reset@150000;times=1", ranges: [nil, nil], resumable: false),
        Case(
            name: "an entity of the same length with another tag replaces the old bytes",
            query: "fault=change;times=1,reset@150000;times=1", ranges: [nil, half], conditions: [.none, .tag], edition: 2),
        Case(
            name: "an entity of another length replaces the old bytes",
            query: "fault=change-length;times=1,reset@150000;times=1", ranges: [nil, half], conditions: [.none, .tag], edition: 2),
        Case(
            name: "a change that If-Range should have shown is recognised by the 206's tag",
            query: "fault=change;times=1,ignore-if-range,reset@150000;times=1", ranges: [nil, half, nil], edition: 2),
        Case(
            name: "a Content-Range that starts elsewhere is not trusted",
            query: "fault=wrong-range,reset@150000;times=1", ranges: [nil, half, nil]),
        Case(
            name: "a Content-Range with another total is not trusted",
            query: "fault=wrong-total,reset@150000;times=1", ranges: [nil, half, nil]),
        Case(
            name: "a multipart answer to a single range is not taken",
            query: "fault=multipart,reset@150000;times=1", ranges: [nil, half, nil]),
        Case(
            name: "an origin that ignores ranges is asked once plainly, then taken from zero",
            query: "fault=ignore-ranges,reset@150000;times=1", ranges: [nil, half, half], conditions: [.none, .tag, .none],
            resumable: false),
        Case(
            name: "416 with another total starts over without Range",
            query: "fault=416-complete,reset@150000;times=1", ranges: [nil, half, nil]),
        Case(
            name: "416 without a total starts over without Range",
            query: "fault=416-bare,reset@150000;times=1", ranges: [nil, half, half, nil]),
        Case(
            name: "a chunked body without its last chunk is a broken transfer",
            query: "fault=chunked-no-end;times=1", ranges: [nil, range(continuing: 300_000)]),
        Case(
            name: "a chunked body that breaks off is resumed",
            query: "fault=chunked,reset@150000;times=1", ranges: [nil, half]),
        Case(
            name: "503 is tried again",
            query: "fault=503x2", ranges: [nil, nil, nil]),
        Case(
            name: "429 with Retry-After is tried again",
            query: "fault=429x1,retry-after=0", ranges: [nil, nil]),
        Case(
            name: "408 is tried again, from the bytes there are",
            query: "fault=reset@150000;times=1,408;from=2;times=1", ranges: [nil, half, half]),
        Case(
            name: "the original URL is asked again after a redirect",
            query: "fault=redirectx1,reset@150000;times=1", ranges: []),
        Case(
            name: "a stalled transfer reconnects from its offset",
            query: "fault=stall@150000;times=1", ranges: [nil, half], conditions: [.none, .tag]),
    ]

    @Test("The file is exact", arguments: cases)
    func exact(_ rule: Case) async throws {
        let fixture = try await ServiceFixture { $0.stallTimeout = .seconds(1) }
        let query = "size=\(Self.size)&seed=7&\(rule.query)"
        let download = try await fixture.add(query)
        let done = try await fixture.end(of: download.id)
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(done.error == nil)

        #expect(try fixture.file(done, is: query, version: rule.edition))
        let bytes = try fixture.file(done)
        #expect(done.bytesTotal == Int64(bytes.count))
        #expect(done.sha256 == SHA256.hexadecimal(of: bytes))
        #expect(try fixture.names(in: "incomplete") == [])

        let requests = fixture.requests()
        if !rule.ranges.isEmpty { #expect(requests.map(\.range) == rule.ranges) }
        for (request, condition) in zip(requests, rule.conditions) {
            let found: Condition =
                switch request.ifRange {
                case nil: .none
                case let value? where value.hasPrefix("\""): .tag
                case _?: .date
                }
            #expect(found == condition, "\(request.target) carried If-Range \(request.ifRange ?? "none")")
        }
        for request in requests { #expect(request.fields[.acceptEncoding] == "identity") }
        if let resumable = rule.resumable { #expect(done.resumable == resumable) }
        await fixture.service.shutdown()
    }

    struct Failing: Sendable, CustomTestStringConvertible {
        let name: String
        let query: String
        let code: FailureCode
        var status: Int?

        var testDescription: String { name }
    }

    static let failing: [Failing] = [
        Failing(name: "404 is not saved as the file", query: "fault=404", code: .httpStatus, status: 404),
        Failing(name: "an unasked 206 is no file", query: "fault=unasked-206", code: .httpStatus, status: 206),
        Failing(name: "204 is no file", query: "fault=204", code: .httpStatus, status: 204),
        Failing(name: "205 is no file", query: "fault=205", code: .httpStatus, status: 205),
        Failing(name: "403 is final", query: "fault=403", code: .httpStatus, status: 403),
        Failing(name: "503 for ever ends", query: "fault=503", code: .httpStatus, status: 503),
        Failing(name: "a redirect loop ends", query: "fault=redirect-loop", code: .tooManyRedirects, status: 302),
        Failing(
            name: "a content coding despite identity is refused", query: "fault=gzip", code: .unsupportedEncoding, status: 200),
        Failing(
            name: "a redirect to another scheme is refused", query: "fault=redirect=ftp%3A%2F%2F127.0.0.1%2Fx",
            code: .destinationForbidden, status: 302),
        Failing(
            name: "an origin that always breaks off at the same byte ends", query: "fault=no-validator,reset@1000",
            code: .transferBroken),
    ]

    @Test("A hopeless download fails with its reason", arguments: failing)
    func fails(_ rule: Failing) async throws {
        let fixture = try await ServiceFixture()
        let download = try await fixture.add("size=5000&seed=1&\(rule.query)")
        let done = try await fixture.end(of: download.id)
        #expect(done.state == .failed)
        #expect(done.error?.code == rule.code)
        #expect(done.error?.httpStatus == rule.status)
        #expect(try fixture.names(in: "files") == [])
        await fixture.service.shutdown()
    }

    @Test("An entity that changes with every request is abandoned, never mixed")
    func changesForEver() async throws {
        let fixture = try await ServiceFixture()
        let download = try await fixture.add("size=300000&seed=2&fault=change,ignore-if-range,reset@150000")
        let done = try await fixture.end(of: download.id)
        #expect(done.state == .failed)
        #expect(try fixture.names(in: "files") == [])
        await fixture.service.shutdown()
    }
}
