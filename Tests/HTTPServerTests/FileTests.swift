import Foundation
import HTTPCore
import HTTPServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) @OffPool struct FileTests {
    private nonisolated static let content = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    private nonisolated static let etag = EntityTag(opaque: "v1")

    /// The storage of the same representation.
    enum Kind: CaseIterable { case file, memory }

    /// Serves the content of each kind under `/file` and `/memory`, with one modification date.
    private func withContent(_ client: @escaping @Sendable (Int) throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/content"
        try Data(Self.content).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 784_111_777)], ofItemAtPath: path)
        try await withServer { request, response in
            let date = HTTPDate(secondsSinceEpoch: 784_111_777)
            switch request.head.target.path {
            case "/file":
                guard let file = try? ServedFile(opening: path) else { return .ready }
                response.serve(file, for: request, mediaType: "audio/mp4", etag: Self.etag)
            default:
                response.serve(Self.content, for: request, mediaType: "audio/mp4", etag: Self.etag, lastModified: date)
            }
            return .ready
        } client: { port in
            try client(port)
        }
        withExtendedLifetime(directory) {}
    }

    @Test("Without conditions, serves the whole with its validators", arguments: Kind.allCases)
    func withoutConditionsTheWholeIs(kind: Kind) async throws {
        try await withContent { port in
            let client = try TestConnection(port)
            for method in ["GET", "HEAD"] {
                let response = try client.get("/\(kind)", method: method)
                #expect(response.status == 200)
                #expect(response["ETag"] == "\"v1\"")
                #expect(response["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
                #expect(response["Accept-Ranges"] == "bytes")
                #expect(response["Content-Type"] == "audio/mp4")
                #expect(response["Content-Length"] == "1000")
                #expect(response.body == (method == "GET" ? Self.content : []))
            }
        }
    }

    @Test(
        "Serves a range as 206",
        arguments: Kind.allCases,
        [
            ("bytes=0-0", 0..<1), ("bytes=10-19", 10..<20), ("bytes=990-", 990..<1000), ("bytes=-5", 995..<1000),
            ("bytes=0-", 0..<1000), ("bytes=500-5000", 500..<1000),
        ])
    func aRangeIsServedAs(kind: Kind, range: (String, Range<Int>)) async throws {
        try await withContent { port in
            let client = try TestConnection(port)
            let response = try client.get("/\(kind)", "Range: \(range.0)")
            #expect(response.status == 206)
            #expect(response["Content-Range"] == "bytes \(range.1.lowerBound)-\(range.1.upperBound - 1)/1000")
            #expect(response["Content-Length"] == "\(range.1.count)")
            #expect(response.body == Array(Self.content[range.1]))
            // The connection is at the expected offset.
            #expect(try client.get("/\(kind)", method: "HEAD").status == 200)
        }
    }

    @Test("Serves several ranges as multipart", arguments: Kind.allCases)
    func severalRangesAreServedAs(kind: Kind) async throws {
        try await withContent { port in
            let client = try TestConnection(port)
            let response = try client.get("/\(kind)", "Range: bytes=0-4,100-109,-3")
            #expect(response.status == 206)
            let type = try #require(response["Content-Type"])
            #expect(type.hasPrefix("multipart/byteranges; boundary="))
            #expect(response["Content-Range"] == nil)
            let boundary = type.split(separator: "=")[1]
            var expected: [UInt8] = []
            for (index, range) in [0..<5, 100..<110, 997..<1000].enumerated() {
                let delimiter = index == 0 ? "" : "\r\n"
                expected += Array(
                    """
                    \(delimiter)--\(boundary)\r\nContent-Type: audio/mp4\r\n\
                    Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/1000\r\n\r\n
                    """.utf8)
                expected += Self.content[range]
            }
            expected += Array("\r\n--\(boundary)--\r\n".utf8)
            #expect(response.body == expected)
            #expect(try client.get("/\(kind)", method: "HEAD").status == 200)
        }
    }

    @Test(
        "Conditions decide the response",
        arguments: Kind.allCases,
        [
            (["If-None-Match: \"v1\""], 304), (["If-None-Match: \"v2\""], 200), (["If-None-Match: *"], 304),
            (["If-Match: \"v1\""], 200), (["If-Match: \"v2\""], 412),
            (["If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"], 304),
            (["If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT"], 200),
            (["If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT"], 412), (["Range: bytes=1000-"], 416),
            (["Range: bytes=0-1", "If-Range: \"v1\""], 206), (["Range: bytes=0-1", "If-Range: \"v2\""], 200),
            (["Range: bytes=0-1", "If-Match: \"v2\""], 412), (["Range: bytes=0-1", "If-None-Match: \"v1\""], 304),
            (["Range: octets=0-1"], 200),
        ])
    func conditionsDecide(kind: Kind, condition: ([String], Int)) async throws {
        try await withContent { port in
            let client = try TestConnection(port)
            let fields = condition.0.map { $0 + "\r\n" }.joined()
            try client.send("GET /\(kind) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
            let response = try client.readResponse()
            #expect(response.status == condition.1)
            #expect(response["ETag"] == "\"v1\"")
            if response.status == 304 {
                #expect(response["Content-Length"] == nil)
                #expect(response["Content-Type"] == nil)
            }
            if response.status == 416 { #expect(response["Content-Range"] == "bytes */1000") }
            // HEAD has the same result, except that ranges are defined for GET only (RFC 9110 §14.2).
            let isRange = condition.1 == 206 || condition.1 == 416
            try client.send("HEAD /\(kind) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
            let head = try client.readResponse(isHead: true)
            #expect(head.status == (isRange ? 200 : condition.1))
            #expect(head["ETag"] == "\"v1\"")
            #expect(head["Content-Length"] == (isRange ? "1000" : response["Content-Length"]))
            #expect(try client.get("/\(kind)", method: "HEAD").status == 200)
        }
    }

    @Test(
        "Serves a body in memory by the same rules",
        arguments: [
            ([], 200, "hello"), (["If-None-Match: \"t\""], 304, ""), (["If-None-Match: W/\"t\""], 304, ""),
            (["If-Match: \"u\""], 412, ""), (["Range: bytes=1-2"], 206, "el"),
            (["Range: bytes=1-2", "If-Range: \"u\""], 200, "hello"),
            (["Range: bytes=9-"], 416, ""), (["Range: bytes=-2", "If-Range: \"t\""], 206, "lo"),
            (["If-Modified-Since: x"], 200, "hello"),
        ])
    func aBodyThatIsThere(fields: [String], status: Int, text: String) async throws {
        try await withServer { request, response in
            response.status = request.head.target.path == "/none" ? .notFound : .ok
            response.fields.append(.contentType, "text/plain")
            response.body = Array("hello".utf8)
            response.serveBody(for: request, etag: EntityTag(opaque: "t"))
            return .ready
        } client: { port in
            let client = try TestConnection(port)
            let lines = fields.map { $0 + "\r\n" }.joined()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\(lines)\r\n")
            let response = try client.readResponse()
            #expect(response.status == status)
            #expect(response.text == text)
            #expect(response["ETag"] == "\"t\"")
            #expect(response.count("Content-Type") == (status < 300 ? 1 : 0))
            // RFC 9110 §13.2.1: a request that would fail without conditions fails with them.
            try client.send("GET /none HTTP/1.1\r\nHost: x\r\n\(lines)\r\n")
            let missing = try client.readResponse()
            #expect(missing.status == 404)
            #expect(missing.text == "hello")
        }
    }

    @Test("Serves an empty file, which has no satisfiable range")
    func anEmptyFileIsServed() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/empty"
        try Data().write(to: URL(filePath: path))
        try await withServer { request, response in
            guard let file = try? ServedFile(opening: path) else { return .ready }
            response.serve(file, for: request, mediaType: "text/plain", etag: nil)
            return .ready
        } client: { port in
            let client = try TestConnection(port)
            #expect(try client.get("/")["Content-Length"] == "0")
            #expect(try client.get("/", "Range: bytes=0-").status == 416)
        }
        withExtendedLifetime(directory) {}
    }

    @Test("64 MiB arrive exactly at several readers at once")
    func n64MiBArriveExactlyTo() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/large"
        let size = 64 * 1024 * 1024
        // Blocks of an odd length, each with its number, so that a misplaced piece is found.
        let block = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
        var bytes: [UInt8] = []
        while bytes.count < size { bytes += Array("\(bytes.count)".utf8) + block }
        let expected = Data(bytes.prefix(size))
        try expected.write(to: URL(filePath: path))
        try await withServer { request, response in
            guard let file = try? ServedFile(opening: path) else { return .ready }
            response.serve(file, for: request, mediaType: "application/octet-stream", etag: nil)
            return .ready
        } client: { port in
            let clients = try (0..<3).map { _ in try TestConnection(port) }
            for client in clients { try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
            for client in clients {
                let response = try client.readHead()
                #expect(response["Content-Length"] == "\(size)")
                var position = 0
                while position < size {
                    let piece = try client.take(min(4 * 1024 * 1024, size - position))
                    #expect(Data(piece) == expected[position..<position + piece.count])
                    position += piece.count
                }
                #expect(try client.get("/", "Range: bytes=-2").body == Array(expected.suffix(2)))
            }
        }
        withExtendedLifetime(directory) {}
    }

    @Test("A file that became shorter breaks off the connection")
    func aFileThatHasBecome() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/shrinking"
        try Data(Self.content).write(to: URL(filePath: path))
        try await withServer { request, response in
            guard let file = try? ServedFile(opening: path) else { return .ready }
            _ = unsafe truncate(path, 100)
            response.serve(file, for: request, mediaType: "text/plain", etag: nil)
            return .ready
        } client: { port in
            let client = try TestConnection(port)
            #expect(throws: (any Error).self) { try client.get("/") }
        }
        withExtendedLifetime(directory) {}
    }

    @Test("Parts in memory and in files are one body")
    func partsOfBothKindsAre() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/content"
        try Data(Self.content).write(to: URL(filePath: path))
        let large = [UInt8](repeating: 9, count: 3_000_000)
        try await withServer { _, response in
            guard let file = try? ServedFile(opening: path) else { return .ready }
            response.content = .parts([
                .bytes(Array("<".utf8)), .file(FileSection(file: file, offset: 5, length: 10)), .bytes([]), .bytes(large),
                .file(FileSection(file: file, offset: 0, length: 0)), .bytes(Array(">".utf8)),
            ])
            return .ready
        } client: { port in
            let client = try TestConnection(port)
            for _ in 0..<2 {
                let response = try client.get("/")
                #expect(response["Content-Length"] == "3000012")
                #expect(response.body == Array("<".utf8) + Self.content[5..<15] + large + Array(">".utf8))
            }
        }
        withExtendedLifetime(directory) {}
    }
}
