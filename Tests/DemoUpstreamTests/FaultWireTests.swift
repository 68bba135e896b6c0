import TestSupport
import TestUpstream
import Testing

/// The effect of each fault at a client.
@Suite("Faults on the wire", .timeLimit(.minutes(3))) @OffPool struct FaultWireTests {
    @Test("Serves a preview whole and in ranges on one connection")
    func preview() async throws {
        try await withUpstream { _, base in
            let target = "/media/5000420101.wav"
            let expected = content(target)
            let client = try connect(base)
            let whole = try client.get(target)
            #expect(whole.status == 200)
            #expect(whole["Content-Length"] == "1323044")
            #expect(Bytes(whole.body) == Bytes(expected))
            let part = try client.get(target, "Range: bytes=1001-500000", "If-Range: \(whole["ETag"] ?? "")")
            #expect(part.status == 206)
            #expect(part["Content-Range"] == "bytes 1001-500000/1323044")
            #expect(Bytes(part.body) == Bytes(expected[1001...500_000]))
            let head = try client.get(target, method: "HEAD")
            #expect(head.status == 200)
            #expect(head["Content-Length"] == "1323044")
            #expect(head["ETag"] == whole["ETag"])
            #expect(try client.get(target, "If-None-Match: \(whole["ETag"] ?? "")").status == 304)
        }
    }

    @Test(
        "Breaks off a body after the requested bytes, in the requested way",
        arguments: [
            ("reset@65536", 65_536, .reset), ("truncate@65536", 65_536, .closed), ("stall@65536", 65_536, .silence),
            ("reset@0", 0, .reset), ("truncate@299999", 299_999, .closed), ("reset@299999", 299_999, .reset),
            ("truncate@1", 1, .closed), ("chunked,reset@100000", 100_000, .reset), ("chunked,truncate@1", 1, .closed),
        ] as [(String, Int, Ending)])
    func brokenBody(fault: String, count: Int, ending: Ending) async throws {
        try await withUpstream { _, base in
            let target = "/entity?size=300000&fault=\(fault)"
            let (answer, found) = try getBroken(base, target, patience: ending == .silence ? .milliseconds(300) : .seconds(60))
            #expect(answer.status == 200)
            #expect(answer["Content-Length"] == (fault.hasPrefix("chunked") ? nil : "300000"))
            #expect(found == ending)
            #expect(Bytes(answer.body) == Bytes(content(target).prefix(count)))
        }
    }

    @Test("A fault limited to one request ends after it; a range continues from the break")
    func once() async throws {
        try await withUpstream { upstream, base in
            let target = "/entity?size=300000&fault=reset@100000;times=1"
            let expected = content(target)
            let (first, ending) = try getBroken(base, target)
            #expect(ending == .reset)
            #expect(Bytes(first.body) == Bytes(expected.prefix(100_000)))
            let second = try get(
                base, target, "Range: bytes=100000-", "If-Range: \(first["ETag"] ?? "")")
            #expect(second.status == 206)
            #expect(Bytes(first.body + second.body) == Bytes(expected))
            let requests = upstream.requests
            #expect(requests.map(\.status) == [200, 206])
            #expect(requests.map(\.range) == [nil, "bytes=100000-"])
            #expect(requests.last?.ifRange == first["ETag"])
            #expect(requests.map(\.bytesSent) == [100_000, 200_000])
            #expect(requests.allSatisfy { $0.target == target && $0.path == "/entity" && $0.method == "GET" })
        }
    }

    @Test("A chunked body ends with or without its last chunk")
    func chunked() async throws {
        try await withUpstream { _, base in
            for (query, isWhole) in [("fault=chunked", true), ("fault=chunked-no-end", false)] {
                let target = "/entity?size=200000&\(query)"
                let (answer, ending) = try getBroken(base, target)
                #expect(answer["Content-Length"] == nil)
                #expect(answer["Transfer-Encoding"] == "chunked")
                #expect(ending == (isWhole ? .complete : .closed))
                #expect(Bytes(answer.body) == Bytes(content(target)))
            }
        }
    }

    @Test("An entity changes between two requests")
    func change() async throws {
        try await withUpstream { _, base in
            let target = "/entity?size=50000&fault=change;times=1"
            let first = try get(base, target)
            let second = try get(
                base, target, "Range: bytes=1000-", "If-Range: \(first["ETag"] ?? "")")
            let third = try get(base, target)
            #expect(Bytes(first.body) == Bytes(content(target)))
            #expect(second.status == 200)
            #expect(Bytes(second.body) == Bytes(content(target, version: 2)))
            #expect(second["ETag"] != first["ETag"])
            #expect(Bytes(third.body) == Bytes(second.body))
        }
    }

    @Test("A status fails the requested number of times, with Retry-After")
    func failures() async throws {
        try await withUpstream { _, base in
            var statuses: [TestResponse] = []
            for _ in 1...4 {
                statuses.append(
                    try get(base, "/entity?size=10&fault=503x2,retry-after=7,429;from=3;times=1"))
            }
            #expect(statuses.map(\.status) == [503, 503, 429, 200])
            #expect(statuses.map { $0["Retry-After"] } == ["7", "7", "7", nil])
            #expect(statuses[2].body.isEmpty)
        }
    }

    @Test(
        "Sends requested responses without a body and with errors",
        arguments: [
            ("204", 204, nil), ("205", 205, nil), ("html", 200, "text/html; charset=utf-8"),
            ("gzip", 200, "application/octet-stream"), ("404", 404, "text/html; charset=utf-8"),
        ] as [(String, Int, String?)])
    func otherAnswers(fault: String, status: Int, type: String?) async throws {
        try await withUpstream { _, base in
            let answer = try get(base, "/entity?size=1000&fault=\(fault)")
            #expect(answer.status == status)
            #expect(answer["Content-Type"] == type)
            if type == nil { #expect(answer.body.isEmpty) }
            #expect((answer["Content-Encoding"] == "gzip") == (fault == "gzip"))
        }
    }

    @Test("Redirects to the requested targets")
    func redirects() async throws {
        try await withUpstream { _, base in
            let away = try get(base, "/entity?size=10&fault=redirect=http://127.0.0.1:1/x?y=z")
            #expect(away.status == 302)
            #expect(away["Location"] == "http://127.0.0.1:1/x?y=z")

            let loop = "/entity?size=10&fault=redirect-loop"
            #expect(try get(base, loop)["Location"] == loop)

            var target = "/entity?size=10&fault=redirectx3"
            for _ in 0..<3 {
                let answer = try get(base, target)
                #expect(answer.status == 302)
                target = try #require(answer["Location"])
            }
            #expect(try get(base, target).body == content("/entity?size=10"))
        }
    }

    @Test("A target with one connection refuses a second one")
    func oneConnection() async throws {
        try await withUpstream { _, base in
            let target = "/entity?size=100000000&fault=one-connection"
            var client: TestConnection? = try connect(base)
            try client?.send("GET", target)
            #expect(try client?.readHead().status == 200)
            #expect(try get(base, target, "Range: bytes=0-9").status == 503)
            client = nil
            // The server notices the closed connection when it sends next, and refuses until then.
            var status = 503
            for _ in 0..<10_000 where status == 503 {
                status = try get(base, target, "Range: bytes=0-9").status
            }
            #expect(status == 206)
        }
    }

    @Test("Delays the head")
    func slowHead() async throws {
        try await withUpstream { _, base in
            let start = ContinuousClock.now
            let answer = try get(base, "/entity?size=10&fault=slow-head@200")
            #expect(ContinuousClock.now - start >= .milliseconds(200))
            #expect(answer.body == content("/entity?size=10"))
        }
    }

    @Test("A search fails with faults in its path, and succeeds after them")
    func searches() async throws {
        try await withUpstream { _, base in
            let throttled = try get(base, "/faulty/403;times=1/search?term=elise")
            #expect(throttled.status == 403)
            #expect(throttled.body.isEmpty)
            let answer = try get(base, "/faulty/403;times=1/search?term=elise")
            #expect(answer.status == 200)
            #expect(Bytes(answer.body) == Bytes(try get(base, "/search?term=elise").body))
            let portal = try get(base, "/faulty/html/search?term=elise")
            #expect(portal.status == 200)
            #expect(portal["Content-Type"] == "text/html; charset=utf-8")
            let (broken, ending) = try getBroken(base, "/faulty/truncate@100/search?term=elise")
            #expect(ending == .closed)
            #expect(broken.body == Array(answer.body.prefix(100)))
        }
    }
}
