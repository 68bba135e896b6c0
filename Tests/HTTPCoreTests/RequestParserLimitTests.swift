import Testing

@testable import HTTPCore

@Suite struct RequestParserLimitTests {
    @Test("The limits are as in the contract")
    func theNumbersAreThoseOfTheContract() {
        let limits = ParserLimits()
        #expect(limits.head == 81_920)
        #expect(limits.fields == 100)
        #expect(limits.target == 8192)
    }

    @Test("Reads a target at its limit; one more byte is 414")
    func aTargetAtItsLimitIsReadAndOneByteMoreIs414() throws {
        let target = "/" + String(repeating: "a", count: 8191)
        #expect(try head("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n").target.rawPath.count == 8192)
        #expect(failure("GET \(target)b HTTP/1.1\r\nHost: a\r\n\r\n") == .targetTooLong(limit: 8192))
    }

    @Test("A request line without an end is 414 once it is too long")
    func aRequestLineWithoutEndIs414AsSoonAsItIsTooLong() {
        #expect(failure("GET /" + String(repeating: "a", count: 8191)) == nil)
        #expect(failure("GET /" + String(repeating: "a", count: 8192)) == .targetTooLong(limit: 8192))
    }

    @Test("Reads a method at its limit; one more byte is 501")
    func aMethodAtItsLimitIsReadAndOneByteMoreIs501() throws {
        let method = String(repeating: "M", count: 32)
        #expect(try head("\(method) / HTTP/1.1\r\nHost: a\r\n\r\n").method.name == method)
        #expect(failure("\(method)M / HTTP/1.1\r\nHost: a\r\n\r\n")?.status == .notImplemented)
        #expect(failure(String(repeating: "M", count: 33))?.status == .notImplemented)
    }

    @Test("Reads a hundred fields; one more is 431")
    func aHundredFieldsAreReadAndOneMoreIs431() throws {
        let lines = String(repeating: "X: y\r\n", count: 99)
        #expect(try head("GET / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n").fields.count == 100)
        #expect(failure("GET / HTTP/1.1\r\nHost: a\r\n\(lines)Z") == .tooManyFields(limit: 100))
    }

    @Test("Reads a head at its limit; one more byte is 431")
    func aHeadAtItsLimitIsReadAndOneByteMoreIs431() throws {
        let start = "GET / HTTP/1.1\r\nHost: a\r\nX: "
        let fill = 81_920 - start.utf8.count - 4
        #expect(try head(start + String(repeating: "v", count: fill) + "\r\n\r\n").fields.count == 2)
        #expect(failure(start + String(repeating: "v", count: fill + 1) + "\r\n\r\n") == .headTooLarge(limit: 81_920))
        #expect(failure(start + String(repeating: "v", count: 90_000)) == .headTooLarge(limit: 81_920))
        #expect(failure("GET / HTTP/1.1\r\n" + String(repeating: "n", count: 90_000)) == .headTooLarge(limit: 81_920))
    }

    @Test("Accepts two empty lines before a request")
    func twoEmptyLinesMayComeFirst() throws {
        #expect(try head("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").method == .get)
        #expect(try head("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").method == .get)
        #expect(failure("\r\n\r\n\r\n")?.status == .badRequest)
    }

    @Test("A head starts with its first byte")
    func aHeadHasStartedWithItsFirstByte() {
        var parser = RequestParser()
        #expect(!parser.started)
        #expect(parser.parse(Array("\r\n\r".utf8).span) == .incomplete)
        #expect(!parser.started)
        #expect(parser.parse(Array("\r\n\r\nG".utf8).span) == .incomplete)
        #expect(parser.started)
        let rest = Array("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        #expect(parser.parse(rest.span) == .complete(consumed: rest.count))
        #expect(!parser.started)
    }

    @Test("A refusal is final")
    func aRefusalIsFinal() {
        var parser = RequestParser()
        let refused = parser.parse(Array("GET\n".utf8).span)
        #expect(refused == .failed(.bareLineEnd))
        #expect(parser.parse(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8).span) == refused)
        parser.reset()
        #expect(parser.parse(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8).span) == .complete(consumed: 27))
    }

    @Test("Reads pipelined requests one by one")
    func pipelinedRequestsComeOneAfterTheOther() throws {
        var input = Array(
            "GET /1 HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\nPOST /2 HTTP/1.1\r\nHost: b\r\nContent-Length: 3\r\n\r\nabc\r\nGET /3 HTTP/1.0\r\n\r\n"
                .utf8)
        var parser = RequestParser()
        var seen: [String] = []
        while !input.isEmpty {
            guard case .complete(let consumed) = parser.parse(input.span) else {
                Issue.record("a request isn't read")
                return
            }
            input.removeFirst(consumed)
            if case .length(let length) = parser.head.framing { input.removeFirst(Int(length)) }
            seen.append("\(parser.head.method) \(parser.head.target) \(parser.head.fields.count) \(parser.head.keepsAlive)")
        }
        #expect(seen == ["GET /1 2 true", "POST /2 2 true", "GET /3 0 false"])
    }

    @Test("Fills an exchanged head next")
    func anExchangedHeadIsFilledNext() {
        var parser = RequestParser()
        var mine = RequestHead()
        let first = Array("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        #expect(parser.parse(first.span) == .complete(consumed: first.count))
        parser.exchangeHead(with: &mine)
        let second = Array("PUT /22 HTTP/1.1\r\nHost: b\r\nX: y\r\n\r\n".utf8)
        #expect(parser.parse(second.span) == .complete(consumed: second.count))
        #expect(mine.target.description == "/1")
        #expect(mine.fields[.host] == "a")
        parser.exchangeHead(with: &mine)
        #expect(mine.target.description == "/22")
        #expect(mine.fields.count == 2)
    }
}
