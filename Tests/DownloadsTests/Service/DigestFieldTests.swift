import Foundation
import HTTPCore
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadTransfer
@testable import DownloadIndex
@testable import DownloadFiles
@testable import DownloadStore
@testable import Downloads

@Suite("Digests that files have to match", .timeLimit(.minutes(3)))
struct DigestFieldTests {
    /// The digests of "abc" in FIPS 180-4 and RFC 1321.
    @Test(
        "Never publishes a file that does not match",
        arguments: [
            (nil, nil, true),
            ("md5:900150983cd24fb0d6963f7d28e17f72", nil, true),
            ("md5:900150983cd24fb0d6963f7d28e17f73", nil, false),
            ("sha-1:a9993e364706816aba3e25717850c26c9cd0d89d", nil, true),
            ("sha-1:b9993e364706816aba3e25717850c26c9cd0d89d", nil, false),
            (nil, "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:", true),
            (nil, "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:", false),
            (nil, "sha-512=:3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==:", true),
            (nil, "sha-512=:z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==:", false),
            ("md5:900150983cd24fb0d6963f7d28e17f72", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:", false),
        ] as [(String?, String?, Bool)])
    func matches(checksum: String?, field: String?, isPublished: Bool) async throws {
        let fixture = try await ServiceFixture()
        let origin = try ScriptedOrigin { _ in
            [.response(200, [("ETag", "\"v1\"")] + (field.map { [("Repr-Digest", $0)] } ?? []), body: Array("abc".utf8))]
        }
        let url = try #require(HTTPURL(origin.url("/abc.txt")))
        let made = try await fixture.service.add(
            NewDownload(url: url, try .with { $0.checksum = try checksum.map { try Checksum(parsing: $0) } })
        ).download
        let done = try await fixture.end(of: made.id)
        #expect(done.state == (isPublished ? .completed : .failed))
        #expect(done.error?.code == (isPublished ? nil : .checksumMismatch))
        #expect(try fixture.names(in: "files") == (isPublished ? ["abc.txt"] : []))
        await fixture.service.shutdown()
    }

    /// The response for the missing bytes need not repeat the digest of the whole file.
    @Test(
        "The origin's statements about the file apply to bytes after a crash or a pause",
        arguments: [Checksum.Algorithm.sha256, .sha512], [(true, true), (true, false), (false, true), (false, false)])
    func outlivesTheProcess(algorithm: Checksum.Algorithm, _ variant: (crashing: Bool, isRight: Bool)) async throws {
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        let half = content.count / 2
        var digest = FileDigest([algorithm])
        unsafe digest.update((variant.isRight ? content : content.reversed()).span.bytes)
        let field = base64(try #require(digest.checksum(algorithm)).bytes)
        let origin = try ScriptedOrigin { request in
            guard request["Range"] == nil else {
                let start = request["Range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
                let range = "bytes \(start)-\(content.count - 1)/\(content.count)"
                return [.response(206, [("ETag", "\"v1\""), ("Content-Range", range)], body: Array(content[start...]))]
            }
            let head = """
                HTTP/1.1 200 OK\r\nETag: "v1"\r\nRepr-Digest: \(algorithm.rawValue)=:\(field):\r\n\
                Content-Length: \(content.count)\r\n\r\n
                """
            return [.send(Array(head.utf8)), .send(Array(content[..<half])), .stall]
        }
        let before = try await ServiceFixture()
        let url = try #require(HTTPURL(origin.url("/file.bin")))
        let made = try await before.service.add(NewDownload(url: url)).download
        _ = try await before.follow(made.id) { $0.bytesReceived == Int64(half) }
        _ = try await before.service.perform(.pause, on: made.id)
        let after = variant.crashing ? try await before.crash() : before
        #expect(after.service.index.download(made.id)?.bytesReceived == Int64(half))
        _ = try await after.service.perform(.resume, on: made.id)
        let done = try await after.end(of: made.id)
        #expect(done.state == (variant.isRight ? .completed : .failed))
        #expect(done.error?.code == (variant.isRight ? nil : .checksumMismatch))
        #expect(try after.names(in: "files") == (variant.isRight ? ["file.bin"] : []))
        #expect(try await origin.requests(atLeast: 2).last?["Range"] == range(continuing: half))
        await after.service.shutdown()
        if variant.crashing { await before.service.shutdown() }
    }

    /// The origin ends after half of the file, without its digest. The mirror sends the digest: with a checksum it
    /// sends the missing bytes, and without one everything, since nothing else would prove that the halves match.
    @Test(
        "Compares a mirror's statements about the file with known ones",
        arguments: [(false, false, true), (true, false, false), (false, true, false)], [true, false])
    func mirrorsDigest(
        _ variant: (hasOtherBytes: Bool, saysOtherwise: Bool, isPublished: Bool), isKnown: Bool
    ) async throws {
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 5 &+ $0 >> 8) }
        let half = content.count / 2
        let origin = try ScriptedOrigin { request in
            if request.number > 0 { return [.response(404)] }
            let head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: \(content.count)\r\n\r\n"
            return [.send(Array(head.utf8)), .send(Array(content[..<half])), .close]
        }
        var digest = FileDigest([])
        unsafe digest.update(content.span.bytes)
        let checksum = try #require(digest.checksum(.sha256))
        let field = base64(variant.saysOtherwise ? [UInt8](repeating: 7, count: 32) : checksum.bytes)
        let mirror = try ScriptedOrigin { request in
            let file = variant.hasOtherBytes ? content[..<half] + content[half...].map { ~$0 } : content[...]
            let fields = [("ETag", "\"b\""), ("Repr-Digest", "sha-256=:\(field):")]
            if request["Range"] == nil { return [.response(200, fields, body: Array(file))] }
            let start = half - Int(ResumeDecision.overlap)
            let range = "bytes \(start)-\(content.count - 1)/\(content.count)"
            return [.response(206, fields + [("Content-Range", range)], body: Array(file[start...]))]
        }
        let fixture = try await ServiceFixture()
        // Known from the client; or unknown, and then from the mirror's own statement.
        var new = NewDownload(
            url: try #require(HTTPURL(origin.url("/file.bin"))), .with { $0.checksum = isKnown ? checksum : nil })
        new.mirrors = [try #require(HTTPURL(mirror.url("/file.bin")))]
        let made = try await fixture.service.add(new).download
        let done = try await fixture.end(of: made.id)
        #expect(done.state == (variant.isPublished ? .completed : .failed), "\(String(describing: done.error))")
        #expect(try fixture.names(in: "files") == (variant.isPublished ? ["file.bin"] : []))
        await fixture.service.shutdown()
    }

    @Test("Requests no bytes from a source that declares another file")
    func otherFile() async throws {
        let content = Array("abc".utf8)
        let answers: [(status: Int, body: [UInt8])] = [(404, []), (200, Array("xyz".utf8)), (200, content)]
        let origins = try answers.map { answer in
            var digest = FileDigest([])
            unsafe digest.update(answer.body.span.bytes)
            let field = base64(digest.checksum(.sha256)?.bytes ?? [])
            return try ScriptedOrigin { _ in
                [.response(answer.status, [("ETag", "\"v\""), ("Repr-Digest", "sha-256=:\(field):")], body: answer.body)]
            }
        }
        let urls = try origins.map { try #require(HTTPURL($0.url("/abc.txt"))) }
        let checksum = try Checksum(parsing: "sha-256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        let fixture = try await ServiceFixture()
        var new = NewDownload(url: urls[0], .with { $0.checksum = checksum })
        new.mirrors = Array(urls[1...])
        let done = try await fixture.end(of: fixture.service.add(new).download.id)
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done) == content)

        let alone = try await fixture.end(
            of: fixture.service.add(NewDownload(url: urls[1], .with { $0.checksum = checksum })).download.id)
        #expect(alone.error?.code == .checksumMismatch && alone.bytesReceived == 0)
        await fixture.service.shutdown()
    }

    /// The record of a small file gets its entity when it has durable bytes, or at its end.
    @Test("Does not compare a published file with statements about an earlier version")
    func publishedBeforeTheRecordSaidSo() async throws {
        let origin = try ScriptedOrigin { _ in
            let digest = ("Repr-Digest", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:")
            let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\n\(digest.0): \(digest.1)\r\nContent-Length: 3\r\n\r\n"
            return [.send(Array(head.utf8)), .stall]
        }
        let before = try await ServiceFixture()
        let url = try #require(HTTPURL(origin.url("/abc.txt")))
        let made = try await before.service.add(NewDownload(url: url)).download
        _ = try await before.follow(made.id) { $0.bytesTotal == 3 }
        _ = try await before.service.perform(.pause, on: made.id)

        let after = try await before.crash { data in
            // The next version has arrived, and was linked.
            try makeWhole(made.id, Array("abc".utf8), in: data, generation: 7, linkedAs: "abc.txt")
        }
        _ = try await after.service.perform(.resume, on: made.id)
        let done = try await after.end(of: made.id)
        #expect(done.state == .completed && done.error == nil)
        #expect(try after.names(in: "files") == ["abc.txt"])
        #expect(try after.names(in: "incomplete") == [])
        #expect(try after.file(done) == Array("abc".utf8))
        await after.service.shutdown()
        await before.service.shutdown()
    }

    @Test("The origin's digest applies to a named file of the same generation")
    func publishedWithAnotherDigest() async throws {
        let digest = ("Repr-Digest", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:")
        let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\n\(digest.0): \(digest.1)\r\nContent-Length: 3\r\n\r\n"
        let origin = try ScriptedOrigin { _ in [.send(Array((head + "a").utf8)), .stall] }
        let before = try await ServiceFixture()
        let url = try #require(HTTPURL(origin.url("/abc.txt")))
        let made = try await before.service.add(NewDownload(url: url)).download
        _ = try await before.follow(made.id) { $0.bytesReceived == 1 }
        _ = try await before.service.perform(.pause, on: made.id)
        let after = try await before.crash { data in
            try makeWhole(made.id, Array("abc".utf8), in: data, linkedAs: "abc.txt")
        }
        _ = try await after.service.perform(.resume, on: made.id)
        let failed = try await after.follow(made.id) { $0.error != nil }
        #expect(failed.error?.code == .checksumMismatch)
        await after.service.shutdown()
        await before.service.shutdown()
    }

    private func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
