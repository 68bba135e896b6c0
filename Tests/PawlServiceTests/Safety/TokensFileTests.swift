import Foundation
import HTTPCore
import HTTPServer
import PawlConfiguration
import TestSupport
import Testing

@testable import PawlService

@Suite("Tokens with names")
struct TokensFileTests {
    /// SHA-256 of `abc`: FIPS 180-4, an example of its publisher.
    private static let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    private static let file = """
        # name scope token
        ops   full    abcdefghijklmnop

        \tboard\tread sha256:\(digest.uppercased())   # for the wall
          # read nothing
        prometheus metrics #not-a-token
        """

    @Test("A line of a tokens file is a name, a scope, and the token or its SHA-256; empty lines and comments are skipped")
    func lines() throws {
        let text = Self.file.replacing("#not-a-token", with: "scrape#1\r")
        let tokens = try TokensFile.parse(Array(text.utf8), shortest: 1)
        #expect(tokens.map(\.name) == ["ops", "board", "prometheus"])
        #expect(tokens.map(\.scope) == [.full, .read, .metrics])
        #expect(tokens.map(\.digest) == ["abcdefghijklmnop", "abc", "scrape#1"].map { TokenDigest(of: $0.utf8) })
        #expect(try TokensFile.parse([], shortest: 1).isEmpty)
        #expect(!"\(tokens)".contains("ba7816bf"))
        // Two lines during a rotation.
        #expect(try TokensFile.parse(Array("a full one\na full two".utf8), shortest: 1).count == 2)
    }

    @Test(
        "Reports a wrong line by its number, and without its words, since each may be the token",
        arguments: [
            ("s3cret", "a name, a scope and a token"), ("ops s3cret", "a name, a scope and a token"),
            ("ops full s3cret s3cret", "a name, a scope and a token"), ("ops full", "a name, a scope and a token"),
            ("ops full #s3cret", "a name, a scope and a token"), ("s3cret Full ops", "full, read, metrics"),
            ("ops s3cret full", "full, read, metrics"), ("s3cr\u{e9}t full ops", "visible ASCII"),
            ("ops full s3cr\u{e9}t", "visible ASCII"), ("ops full s3cret\u{0}", "visible ASCII"),
            ("\(String(repeating: "s3cret", count: 11)) full ops", "1 to 64"),
            ("ops full sha256:s3cret", "64 hexadecimal"), ("ops full sha256:", "64 hexadecimal"),
            ("ops full sha256:\(String(repeating: "g", count: 64))", "64 hexadecimal"),
            ("ops full sha256:\(digest)00", "64 hexadecimal"), ("ops full \(String(repeating: "s", count: 4097))", "4096"),
            ("ops full SHA256:s3cret", "64 hexadecimal"), ("ops full SHA512:\(digest)", "written sha256:"),
            ("ops full sha256-\(digest)", "written sha256:"), ("ops full Sha256=\(digest)", "written sha256:"),
            ("ops full sha-256:s3cret", "64 hexadecimal"), ("ops full SHA-256-\(digest)", "written sha256:"),
            ("ops full sha256\(digest)", "written sha256:"), ("ops full sha256/\(digest)", "written sha256:"),
            ("ops full sha265:\(digest)", "written sha256:"), ("ops full sha256s3cret=", "written sha256:"),
            ("ops full first", "has the token of line 2"), ("x read first", "has the token of line 2"),
        ])
    func wrong(line: String, reason: String) throws {
        do throws(TokensFile.Fault) {
            _ = try TokensFile.parse(Array("# first\nfirst full first\n\n\(line)\nlast full last\n".utf8), shortest: 1)
            Issue.record("it is taken")
        } catch {
            #expect(error.line == 4)
            #expect("\(error)".contains(reason), "\(error)")
            #expect("\(error)".hasPrefix("line 4: "))
            #expect(!"\(error)".contains("s3cr"))
        }
    }

    @Test("Reads sha256: in any case; a token may begin with similar text")
    func spellings() throws {
        for prefix in ["sha256:", "SHA256:", "Sha256:", "sha-256:", "SHA-256:"] {
            let tokens = try TokensFile.parse(Array("a full \(prefix)\(Self.digest)".utf8), shortest: 16)
            #expect(tokens.map(\.digest) == [TokenDigest(of: "abc".utf8)])
        }
        for token in ["sha", "sha-", "shady:token=", "sha256", "sha-256", "sha256token", "sha1", "x-sha256:"] {
            let tokens = try TokensFile.parse(Array("a full \(token)".utf8), shortest: 1)
            #expect(tokens.map(\.digest) == [TokenDigest(of: token.utf8)], "\(token)")
        }
    }

    @Test("Ignores a byte order mark in files of names, tokens and secrets")
    func byteOrderMark() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/file"
        var configuration = Configuration()
        configuration.tokensFile = path
        configuration.tokenFile = path
        configuration.webhookSecretFile = path
        try Data("\u{FEFF}a full one\n".utf8).write(to: URL(filePath: path))
        #expect(try configuration.readTokensFile().map(\.name) == ["a"])
        try Data("\u{FEFF}s3cret\n".utf8).write(to: URL(filePath: path))
        try configuration.readToken()
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        try Data("\u{FEFF}\(secret)\n".utf8).write(to: URL(filePath: path))
        try configuration.readWebhookSecrets()
        #expect(configuration.token?.authorization == "Bearer s3cret")
        #expect(configuration.webhookSecrets == [WebhookSecret(secret)])
    }

    @Test("A plain token has the minimum length for other machines; one with a digest may have any length")
    func short() throws {
        #expect(throws: TokensFile.Fault.self) { try TokensFile.parse(Array("a full fifteen-letters".utf8), shortest: 16) }
        let text = "a full sixteen-letters!\nb full sha256:\(Self.digest)\n"
        #expect(try TokensFile.parse(Array(text.utf8), shortest: 16).count == 2)
    }

    @Test("Limits the size of a file")
    func bounds() throws {
        let lines = (0...TokensFile.maximumTokens).map { "n full token-\($0)\n" }
        #expect(try TokensFile.parse(Array(lines.dropLast().joined().utf8), shortest: 1).count == TokensFile.maximumTokens)
        #expect(throws: TokensFile.Fault.self) { try TokensFile.parse(Array(lines.joined().utf8), shortest: 1) }
        let directory = try TemporaryDirectory()
        var configuration = Configuration()
        configuration.tokensFile = directory.path + "/tokens"
        try Data(repeating: 0x0A, count: 300_000).write(to: URL(filePath: directory.path + "/tokens"))
        #expect(throws: StartError.self) { try configuration.readTokensFile() }
    }

    @Test("each scope is good for what it says", arguments: Endpoint.all.filter { !$0.isPublic })
    func scopes(endpoint: Endpoint) {
        for operation in endpoint.operations {
            #expect(operation.isOpen(to: .full))
            #expect(operation.isOpen(to: .read) == (operation.method == .get || endpoint.path == "/tickets"))
            #expect(operation.isOpen(to: .metrics) == (endpoint.path == "/metrics"))
        }
    }

    @Test("A ticket belongs to its token, expires, and is valid for every holder of the same key")
    func tickets() {
        let (tickets, others) = (Tickets(key: [1, 2, 3]), Tickets(key: [1, 2]))
        let tokens = ["a", "b"].map { TokenDigest(of: $0.utf8) }
        let now = Timestamp(millisecondsSinceEpoch: 1_795_000_000_000)
        func later(_ milliseconds: Int64) -> Timestamp {
            Timestamp(millisecondsSinceEpoch: now.millisecondsSinceEpoch + milliseconds)
        }
        let issued = tokens.map { tickets.issue(for: $0, now: now) }
        #expect(issued.map { tickets.token(of: $0, among: tokens, now: now) } == [0, 1])
        #expect(issued.map { Tickets(key: [1, 2, 3]).token(of: $0, among: tokens, now: later(299_999)) } == [0, 1])
        #expect(issued.map { Tickets.end(of: $0) } == [later(300_000), later(300_000)] && Tickets.end(of: "0") == nil)
        #expect(issued.map { tickets.token(of: $0, among: tokens, now: later(300_000)) } == [nil, nil])
        #expect(issued.map { others.token(of: $0, among: tokens, now: now) } == [nil, nil])
        // The token was removed.
        #expect(issued.map { tickets.token(of: $0, among: [tokens[1]], now: now) } == [nil, 0])
        // A ticket with a later expiry, and texts that are no tickets.
        let longer = String(now.millisecondsSinceEpoch + 400_000, radix: 36) + issued[0].suffix(32)
        for ticket in [longer, "", "0", "-" + issued[0], issued[0] + "0", String(issued[0].dropFirst()), "é" + issued[0]] {
            #expect(tickets.token(of: ticket, among: tokens, now: now) == nil, "\(ticket)")
        }
    }
}
