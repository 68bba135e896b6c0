import Testing
import TestSupport

@testable import HTTPClient

@Suite("Framing of bodies in chunks", .timeLimit(.minutes(2)))
struct FramingMonitorTests {
    private let start = ContinuousClock.now

    @Test(
        "Limits framing to 1 MiB plus 64 bytes for each byte of the body",
        arguments: [
            (0, 0, false), (1 << 20, 0, false), ((1 << 20) + 64, 0, true), (1 << 40, 0, true), (1 << 40, 1 << 40, false),
            ((1 << 20) + 65 * 1000, 1000, false), ((1 << 20) + 65 * 1001, 1000, true), (6 << 20, 1 << 20, false),
            (Int64.max / 2, 1 << 30, true), (-5, 0, false),
        ] as [(Int64, Int64, Bool)])
    func table(received: Int64, body: Int64, isExceeded: Bool) {
        var monitor = FramingMonitor(now: start)
        func look(_ received: Int64, _ body: Int64, after seconds: Double) -> Bool {
            monitor.isExceeded(received: received, body: body, now: start + .seconds(seconds))
        }
        // Bytes before the first check do not count.
        let first = look(1 << 50, 7, after: 1)
        let early = look(.max, 7, after: 1.5)
        #expect(!first && !early)
        let found = look(1 << 50 + received, 7 + body, after: 2)
        #expect(found == isExceeded)
        #expect(monitor.due == start + .seconds(3))
    }

    @Test("Endless chunk extensions break the transfer", arguments: ["", "5\r\nhello\r\n"])
    func endless(begin: String) async throws {
        let client = try HTTPClient()
        defer { client.shutdown() }
        let origin = try ScriptedOrigin { _ in
            [
                .text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(begin)5;x="),
                .generate(count: 1 << 40) { _, count in [UInt8](repeating: UInt8(ascii: "x"), count: count) },
            ]
        }
        let sink = RecordingSink()
        client.start(try ClientRequest(origin), sink: sink)
        let error = try #require(try await sink.outcome().error)
        #expect(error.kind == "transferBroken" && error.message.contains("chunk extensions"), "\(error)")
    }

    @Test("Accepts a body in chunks of one byte")
    func tinyChunks() async throws {
        let client = try HTTPClient()
        defer { client.shutdown() }
        let chunks = Array(String(repeating: "1;a\r\nx\r\n", count: 1 << 16).utf8)
        let origin = try ScriptedOrigin { _ in
            [.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")]
                + (0..<64).map { _ in .send(chunks) } + [.text("0\r\n\r\n"), .close]
        }
        let sink = RecordingSink()
        client.start(try ClientRequest(origin), sink: sink)
        #expect(try await sink.outcome().error == nil)
        #expect(sink.record.value.bytes.count == 1 << 22)
    }
}
