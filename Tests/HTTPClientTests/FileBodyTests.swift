import Foundation
import HTTPClient
import HTTPCore
import System
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct FileBodyTests {
    let client: HTTPClient
    let directory: TemporaryDirectory
    let content: [UInt8]
    let file: FileDescriptor

    init() throws {
        client = try HTTPClient()
        directory = try TemporaryDirectory()
        // Several times the amount of one read.
        content = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
        try Data(content).write(to: URL(filePath: directory.path + "/file"))
        file = try FileDescriptor(opening: directory.path + "/file")
    }

    @Test("Sends a range of a file with its length", arguments: ["PUT", "POST"], [0..<1_500_000, 0..<1, 7..<700_007, 5..<5])
    func rangeIsSent(method: String, range: Range<Int>) async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, body: [1])] }
        var request = try ClientRequest(origin)
        request.method = method
        request.body = .file(file, Int64(range.lowerBound)..<Int64(range.upperBound))
        let response = try await client.fetch(request, bodyLimit: 10)
        #expect(response.body == [1])
        let sent = try #require(origin.requests.first)
        #expect(sent.method == method)
        #expect(sent.body == Array(content[range]))
        #expect(sent["Content-Length"] == String(range.count))
        #expect(sent["Expect"] == nil)
        #expect(sent["Transfer-Encoding"] == nil)
        #expect(sent["Content-Type"] == nil)
        // The connection is reused, and its next request has no content.
        let next = try await client.fetch(ClientRequest(origin), bodyLimit: 10)
        #expect(next.body == [1])
        #expect(origin.requests.last?.method == "GET")
        #expect(origin.requests.last?["Content-Length"] == nil)
    }

    @Test("Sends a file again after a closed connection and a redirect")
    func fileIsSentAnew() async throws {
        let origin = try ScriptedOrigin { request in
            switch request.target {
            case "/first": [.response(200), .close]
            case "/moved": [.redirect(307, to: "/here")]
            default: [.response(200)]
            }
        }
        _ = try await client.fetch(ClientRequest(origin, "/first"), bodyLimit: 10)
        for target in ["/", "/moved"] {
            var request = try ClientRequest(origin, target)
            request.method = "PUT"
            request.body = .file(file, 0..<Int64(content.count))
            _ = try await client.fetch(request, bodyLimit: 10)
            #expect(origin.requests.last?.body == content)
        }
        #expect(origin.requests.last?.target == "/here")
    }

    @Test("A file that is too short is an error of the request")
    func shortFileIsError() async throws {
        let origin = try ScriptedOrigin { _ in [.response(200)] }
        var request = try ClientRequest(origin)
        request.method = "PUT"
        request.body = .file(file, 0..<Int64(content.count) + 1)
        let error = try #require(await client.failure(of: request))
        #expect(error.kind == "invalidRequest")
        #expect(origin.requests.isEmpty)
    }

    @Test("A response before the end of a file ends the request")
    func earlyAnswerCounts() async throws {
        // Responds at once, despite further bytes.
        let origin = try ScriptedOrigin(greeting: { _ in [.response(403, body: [7]), .stall] }) { _ in [] }
        let large = try sparseFile(64 << 20)
        var request = try ClientRequest(origin)
        request.method = "PUT"
        request.body = .file(large, 0..<64 << 20)
        let response = try await client.fetch(request, bodyLimit: 10)
        #expect(response.head.status.code == 403)
        #expect(response.body == [7])
    }

    @Test("Cancelling ends the reading of a file")
    func cancellingEndsReading() async throws {
        let begun = Gate()
        let origin = try ScriptedOrigin(greeting: { _ in [.open(begun), .wait(Gate())] }) { _ in [] }
        let large = try sparseFile(1 << 30)
        var request = try ClientRequest(origin)
        request.method = "PUT"
        request.body = .file(large, 0..<1 << 30)
        let task = Task { [client, request] in try await client.fetch(request, bodyLimit: 10) }
        try await begun.wait()
        task.cancel()
        await #expect(throws: ClientError.cancelled) { try await task.value }
    }

    @Test("A receiver that reads nothing is a stall")
    func stalledReceiverIsNoticed() async throws {
        let listener = try DeafListener()
        let large = try sparseFile(1 << 30)
        var request = ClientRequest(url: try url("http://127.0.0.1:\(listener.port)/"))
        request.method = "PUT"
        request.body = .file(large, 0..<1 << 30)
        request.lowSpeedLimit = (1, .milliseconds(400))
        // The remaining bytes must not end the transfer first.
        request.headTimeout = .seconds(3600)
        #expect(await client.failure(of: request) == .stalled)
    }

    @Test("Returns redirects as responses if they are not followed")
    func redirectIsResponse() async throws {
        let origin = try ScriptedOrigin { _ in [.response(307, [("Location", "/x"), ("X-Region", "r")], body: [5])] }
        var request = try ClientRequest(origin)
        request.maximumRedirects = nil
        let response = try await client.fetch(request, bodyLimit: 10)
        #expect(response.head.status.code == 307)
        #expect(FieldName("x-region").flatMap { response.head.fields[$0] } == "r")
        #expect(response.body == [5])
        #expect(origin.requests.count == 1)
    }

    private func sparseFile(_ length: Int64) throws -> FileDescriptor {
        let file = try FileDescriptor(opening: directory.path + "/large", .creating)
        try file.truncate(to: length)
        return file
    }
}

/// Accepts connections, and reads nothing from them.
private final class DeafListener {
    let port: Int
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, length) == 0 && listen(descriptor, 5) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
    }

    deinit { close(descriptor) }
}
