import Glibc
import HTTPCore
@testable import HTTPServer
import System
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct ConnectionOverPairTests {
    private static func large(_ request: borrowing Request, _ response: inout Response) -> Handling {
        response.body = [UInt8](repeating: 7, count: 8 << 20)
        return .ready
    }

    @Test("A client that reads less than makes its socket writable does not count as stopped")
    func aClientThatTakesLess() throws {
        let pair = try ConnectionPair(limits: { $0.writeTimeout = .seconds(60) }, Self.large)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        // A socket pair counts unread bytes in pieces of up to 32 KiB.
        for _ in 0..<4 {
            #expect(pair.read(36_000).count == 36_000)
            pair.wait(.seconds(60))
            #expect(!pair.isClosed)
        }
        // A client that reads nothing counts as stopped.
        pair.wait(.seconds(60))
        #expect(pair.isClosed)
    }

    private static func huge(_ request: borrowing Request, _ response: inout Response) -> Handling {
        response.body = [UInt8](repeating: 7, count: 16 << 20)
        return .ready
    }

    /// The client of 16 MiB reads at once, or waits this number of seconds at 128 KiB and at 8 MiB.
    @Test(
        "The kernel may buffer more for a few fast readers while they read fast",
        arguments: [(32, 0, 0, 8 << 20), (32, 2, 0, 0), (32, 0, 2, 4 << 20), (0, 0, 0, 0)]
            as [(places: Int, early: Int, late: Int, unlimited: Int)])
    func theKernelMayTakeMore(
        _ variant: (places: Int, early: Int, late: Int, unlimited: Int)
    ) throws {
        let pair = try ConnectionPair(overTCP: true, limits: { $0.unlimitedSockets = variant.places }, Self.huge)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        var (count, unlimited) = (0, 0)
        while count < 16 << 20 {
            let before = count
            count += try pair.exchange()
            for (place, seconds) in [(1 << 17, variant.early), (8 << 20, variant.late)] where before < place && count >= place {
                pair.wait(.seconds(seconds))
            }
            #expect(pair.unlimitedSockets == (pair.unsentLimit == 0 ? 1 : 0))
            if pair.unlimitedSockets == 1 { unlimited += count - before }
        }
        // Between the first 4 MiB, which show the speed, and the last ones. Bytes in transit blur both.
        #expect(abs(unlimited - variant.unlimited) <= (variant.unlimited > 0 ? 3 << 20 : 0))
        #expect(pair.unlimitedSockets == 0)
        #expect(pair.unsentLimit == 256 << 10)
    }

    @Test("Withholds a large body whose permit has been revoked")
    func revokedBody() throws {
        let permit = Permit()
        permit.revoke()
        let pair = try ConnectionPair { request, response in
            response.permit = permit
            response.body = [UInt8](repeating: 7, count: 1 << 20)
            return .ready
        }
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(pair.isClosed)
    }

    @Test("A broken connection releases its share among fast readers")
    func aConnectionThatBreaksGives() throws {
        let pair = try ConnectionPair(overTCP: true, Self.huge)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        while pair.unlimitedSockets == 0 { _ = try pair.exchange() }
        pair.close()
        #expect(pair.isClosed)
        #expect(pair.unlimitedSockets == 0)
    }

    @Test(
        "Responds with 400 to a request that the end of the input cuts off",
        arguments: [
            "GET / HT", "GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab",
        ])
    func aRequestThatTheEnd(request: String) throws {
        let pair = try ConnectionPair(echo)
        pair.receive(request)
        pair.receiveEnd()
        let answer = pair.readText()
        #expect(answer.hasPrefix("HTTP/1.1 400 "))
        #expect(answer.contains("\r\nConnection: close\r\n"))
        #expect(answer.contains("X-Request-Id: mine\r\n") == request.contains("mine"))
        #expect(pair.isClosed)
    }

    @Test("An end between requests is no error", arguments: ["", "\r\n"])
    func anEndBetweenRequestsIs(request: String) throws {
        let pair = try ConnectionPair(echo)
        pair.receive(request)
        pair.receiveEnd()
        #expect(pair.readText().isEmpty)
        #expect(pair.isClosed)
    }

    @Test(
        "A refusal has the request id of its client",
        arguments: [
            "GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nBad Name: x\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nContent-Length: 9999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ])
    func aRefusalIsNamedAs(request: String) throws {
        let pair = try ConnectionPair(echo)
        pair.receive(request)
        let answer = pair.readText()
        #expect(answer.hasPrefix("HTTP/1.1 4"))
        #expect(answer.contains("\r\nX-Request-Id: mine\r\n"))
    }

    @Test("A late request gets a refusal with its own id")
    func aRequestThatIsLate() throws {
        let pair = try ConnectionPair(echo)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nA: ")
        pair.wait(.seconds(10))
        let answer = pair.readText()
        #expect(answer.hasPrefix("HTTP/1.1 408 "))
        #expect(answer.contains("\r\nX-Request-Id: mine\r\n"))
    }

    @Test("A failed request has no data of the previous one")
    func aFailedRequestSaysNothing() throws {
        let pair = try ConnectionPair(echo)
        pair.receive("GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: first\r\n\r\n\r\nG\u{1}")
        let answers = pair.readText().components("HTTP/1.1 ")
        #expect(answers.count == 2)
        #expect(answers.first?.contains("X-Request-Id: first\r\n") == true)
        #expect(answers.last?.hasPrefix("400 ") == true)
        #expect(answers.last?.contains("first") == false)
    }

    @Test("Bodies that are arriving share a limit, and release their bytes")
    func bodiesThatAreArrivingShare() throws {
        let pair = try ConnectionPair(limits: { $0.bodyStorage = 100_000 }, echo)
        let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n"
        pair.receive(head + String(repeating: "x", count: 1000))
        #expect(pair.bodyStorage >= 1000)
        #expect(pair.readText().isEmpty)
        pair.receive(String(repeating: "x", count: 60_000))
        pair.receive(String(repeating: "x", count: 60_000))
        #expect(pair.readText().hasPrefix("HTTP/1.1 503 "))
        #expect(pair.bodyStorage == 0)
    }

    @Test("A response that waits to be read shares the limit; one beyond it is a 503")
    func responsesShareTheBound() throws {
        let size = 8 << 20
        let handler: @Sendable (borrowing Request, inout Response) -> Handling = { _, response in
            response.body = [UInt8](repeating: 1, count: size)
            return .ready
        }
        let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        let narrow = try ConnectionPair(limits: { $0.bodyStorage = size - 1 }, handler)
        narrow.receive(request)
        #expect(narrow.readText().hasPrefix("HTTP/1.1 503 "))
        #expect(narrow.bodyStorage == 0)
        let wide = try ConnectionPair(limits: { $0.bodyStorage = size }, handler)
        wide.receive(request)
        #expect(wide.bodyStorage == size)
        var count = 0
        while wide.bodyStorage > 0 { count += try wide.exchange() }
        #expect(count > size / 2)
        wide.receive(request)
        #expect(wide.bodyStorage == size)
    }

    @Test("A body in one piece uses nothing of the limit")
    func aBodyThatComesIn() throws {
        let pair = try ConnectionPair(limits: { $0.bodyStorage = 0 }, echo)
        pair.receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
        #expect(pair.readText().hasPrefix("HTTP/1.1 200 "))
        #expect(pair.bodyStorage == 0)
    }

    @Test(
        "A shutdown closes connections without a pending response at once",
        arguments: ["", "GET / HT", "GET / HTTP/1.1\r\nHost: x\r\n"])
    func aShutdownClosesAtOnce(request: String) throws {
        let pair = try ConnectionPair(echo)
        if !request.isEmpty { pair.receive(request) }
        pair.stop()
        #expect(pair.isClosed)
    }

    @Test("A shutdown waits a moment for a body")
    func aShutdownLetsABody() throws {
        let pair = try ConnectionPair(echo)
        pair.receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
        pair.stop()
        #expect(!pair.isClosed)
        pair.receive("cde")
        #expect(pair.readText().hasSuffix("POST / 5 abcde"))
        #expect(pair.isClosed)
        let late = try ConnectionPair(echo)
        late.receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
        late.stop()
        late.wait(.seconds(1))
        #expect(late.isClosed)
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [String] {
        split(separator: separator).map(String.init)
    }
}
