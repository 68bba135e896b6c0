import DownloadCore
import HTTPCore
import HTTPServer
import JSON
import PawlConfiguration
import Synchronization
import Testing

@testable import PawlService

@Suite("Responses and log lines")
struct RenderingTests {
    private func sample() throws -> Download {
        let id = try #require(RecordID("01JD6Z0000000000000000000A"))
        return Download(
            id: id, url: "https://u.example/a.m4a?signature=s3cret", state: .downloading,
            createdAt: Timestamp(millisecondsSinceEpoch: 1_732_180_567_123))
    }

    private func encoded(_ download: Download) -> String {
        var writer = JSONWriter()
        download.encode(into: &writer, .none)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("Each refusal of the service is a problem with its status")
    func refusals() throws {
        let refusals: [(DownloadError, Int)] = [
            (.notFound, 404), (.illegalTransition(from: .completed, command: "pause"), 409),
            (.duplicate(RecordID(value: 1)), 409), (.destinationForbidden("x"), 403), (.invalid("x"), 400),
            (.insufficientStorage("x"), 507), (.notComplete(.queued), 409), (.preconditionFailed, 412), (.keyMismatch, 422),
            (.overloaded, 503), (.unconfirmed, 503), (.shuttingDown, 503), (.storeFailed("x"), 500),
            (.storeAway("x"), 503),
        ]
        for (error, status) in refusals {
            #expect(error.problem.status.code == status)
            #expect(error.problem.detail == error.description)
            #expect(error.problem.fields[.retryAfter] == (status == 503 ? "5" : nil))
        }
    }

    @Test("A resource has the contract's members in order, absent ones as null")
    func members() throws {
        let value = try JSONValue(parsing: Array(encoded(try sample()).utf8))
        #expect(
            value.members?.map(\.name) == [
                "id", "url", "state", "filename", "folder", "mediaType", "bytesReceived", "bytesTotal", "progress",
                "bytesPerSecond",
                "etaSeconds", "resumable", "stalled", "segments", "attempts", "error", "checksum", "sha256", "priority", "labels",
                "speedLimit", "timeouts", "remoteTime", "retry", "track", "createdAt", "startedAt", "updatedAt", "completedAt",
                "fileMissing", "receivedRanges",
                "waitingFor", "position", "expiresAt", "links",
            ])
        for name in [
            "filename", "mediaType", "bytesTotal", "progress", "etaSeconds", "resumable", "error", "track", "completedAt",
            "waitingFor", "position",
            "expiresAt", "timeouts", "remoteTime", "retry",
        ] {
            #expect(value[name]?.isNull == true, "\(name)")
        }
        #expect(value["createdAt"]?.string == "2024-11-21T09:16:07.123Z")
        #expect(value["links"]?["file"]?.string == "/downloads/01JD6Z0000000000000000000A/file")
    }

    @Test("Rounds progress and remaining time; progress reaches the end only when complete")
    func rounding() throws {
        var download = try sample()
        download.bytesTotal = 1_048_576
        download.bytesReceived = 524_288
        download.bytesPerSecond = 262_144
        #expect(encoded(download).contains(#""progress":0.5,"bytesPerSecond":262144,"etaSeconds":2.0,"#))
        download.bytesReceived = 1_048_575
        #expect(encoded(download).contains(#""progress":0.9999,"#))
    }

    @Test("An error has its code, its message and the origin's status")
    func failure() throws {
        var download = try sample()
        download.error = DownloadFailure(.httpStatus, "the origin answered 503", httpStatus: 503, retryable: true)
        #expect(
            encoded(download).contains(
                #""error":{"code":"http-status","message":"the origin answered 503","retryable":true,"httpStatus":503}"#))
    }

    @Test("A problem has the members of RFC 9457 and its code")
    func problem() throws {
        let id = try #require(RecordID("01JD6Z0000000000000000000A"))
        var writer = JSONWriter()
        DownloadError.duplicate(id).problem.encode(into: &writer)
        let value = try JSONValue(parsing: writer.bytes)
        #expect(value.members?.map(\.name) == ["type", "title", "status", "detail", "code", "id"])
        #expect(value["type"]?.string == "/problems/duplicate")
        #expect(value["status"]?.integer == 409)
        #expect(value["id"]?.string == id.description)
    }

    @Test("A refused transition has the state")
    func illegalTransition() throws {
        var writer = JSONWriter()
        DownloadError.illegalTransition(from: .completed, command: "resume").problem.encode(into: &writer)
        #expect(try JSONValue(parsing: writer.bytes)["state"]?.string == "completed")
    }

    @Test(
        "Each refusal of the server has a code of the same status",
        arguments: [400, 404, 405, 408, 413, 414, 415, 417, 421, 429, 431, 500, 501, 503, 505])
    func refusals(status: Int) {
        #expect(Problem(Refusal(status: HTTPStatus(status), detail: "")).code.status.code == status)
    }

    @Test("Equal bytes have equal tags, different ones do not")
    func tags() {
        let bytes = Array(0..<200).map { UInt8($0) }
        var others: Set<String> = [ContentTag.of(bytes).opaque]
        #expect(ContentTag.of(bytes) == ContentTag.of(bytes))
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            others.insert(ContentTag.of(changed).opaque)
            others.insert(ContentTag.of(Array(bytes[..<index])).opaque)
        }
        #expect(others.count == 401)
    }

    @Test("Log lines have named values, and no query of a URL")
    func log() throws {
        let lines = Mutex<[String]>([])
        let clock: @Sendable () -> Timestamp = { Timestamp(millisecondsSinceEpoch: 0) }
        let sink: @Sendable ([UInt8]) -> Void = { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
        let text = Log(level: .info, format: .text, now: clock, sink: sink)
        let json = Log(level: .info, format: .json, now: clock, sink: sink)
        var download = try sample()
        download.filename = "a b.m4a"
        text.write(.transition(download))
        json.write(.transition(download))
        text.write(.debug, "not this")
        text.write(.warning, "line\nbreak", [("detail", .text("x\ny"))])
        let written = lines.withLock { $0 }
        #expect(written.count == 3)
        #expect(
            written[0] == """
                1970-01-01T00:00:00.000Z info    download is downloading id=01JD6Z0000000000000000000A \
                url=https://u.example/a.m4a?... bytesReceived=0 filename="a b.m4a"

                """)
        let object = try JSONValue(parsing: Array(written[1].utf8))
        #expect(object["level"]?.string == "info")
        #expect(object["filename"]?.string == "a b.m4a")
        #expect(written[2] == "1970-01-01T00:00:00.000Z warning line?break detail=\"x\\ny\"\n")
        #expect(!written.joined().contains("s3cret"))
    }
}
