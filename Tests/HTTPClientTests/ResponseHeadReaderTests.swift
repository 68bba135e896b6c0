import HTTPCore
import Testing

@testable import HTTPClient

@Suite
struct ResponseHeadReaderTests {
    /// Adds lines, each with CRLF, and returns the last result.
    static func read(_ lines: [String], into reader: inout ResponseHeadReader) -> ResponseHeadReader.Progress {
        var progress = ResponseHeadReader.Progress.incomplete
        for line in lines {
            progress = reader.read(Array((line + "\r\n").utf8).span)
            if progress != .incomplete { break }
        }
        return progress
    }

    @Test("Builds a head from its lines")
    func headIsBuiltFromLines() {
        var reader = ResponseHeadReader(maximumBytes: 1000)
        let progress = Self.read(["HTTP/1.0 206 Partial Content", "ETag: \"x\"", "a:1", "A:  2  ", "Empty:", ""], into: &reader)
        #expect(progress == .complete)
        #expect(reader.status == .partialContent)
        #expect(reader.fields[.etag] == "\"x\"")
        #expect(FieldName("a").map { reader.fields.values($0) } == ["1", "2"])
        #expect(FieldName("empty").flatMap { reader.fields[$0] } == "")
    }

    @Test("Keeps bytes beyond ASCII")
    func bytesBeyondASCIIAreKept() {
        var reader = ResponseHeadReader(maximumBytes: 1000)
        _ = Self.read(["HTTP/1.1 200 OK"], into: &reader)
        let line: [UInt8] = Array("ETag: \"".utf8) + [0xe9, 0xff] + Array("\"\r\n".utf8)
        #expect(reader.read(line.span) == .incomplete)
        #expect(Self.read([""], into: &reader) == .complete)
        #expect(reader.fields.bytes(.etag).map { Array($0) } == [0x22, 0xe9, 0xff, 0x22])
    }

    @Test("Skips interim responses with their fields")
    func interimResponsesArePassedOver() {
        var reader = ResponseHeadReader(maximumBytes: 1000)
        #expect(
            Self.read(["HTTP/1.1 100 Continue", "", "HTTP/1.1 103 Early Hints", "Link: x", ""], into: &reader) == .incomplete)
        #expect(Self.read(["HTTP/1.1 200", "Last-Modified: y", ""], into: &reader) == .complete)
        #expect(reader.status == .ok)
        #expect(reader.fields.count == 1)
    }

    @Test("Folded lines continue their field; trailers are ignored")
    func foldedLinesContinueField() {
        var reader = ResponseHeadReader(maximumBytes: 1000)
        #expect(Self.read([" lost", "HTTP/1.1 200 OK", "Server: a", "\t b", " c", "Via: d", ""], into: &reader) == .complete)
        #expect(FieldName("server").flatMap { reader.fields[$0] } == "a \t b  c")
        var second = ResponseHeadReader(maximumBytes: 1000)
        let folded = ["HTTP/1.1 200 OK", "Server:", " a\u{1}", " \u{2}b ", " ", "\t", "Via: c", ""]
        #expect(Self.read(folded, into: &second) == .complete)
        #expect(FieldName("server").flatMap { second.fields[$0] } == "a   b")
        #expect(FieldName("via").flatMap { second.fields[$0] } == "c")
        #expect(Self.read(["ETag: \"trailer\"", "HTTP/1.1 500 x", ""], into: &reader) == .incomplete)
        #expect(reader.fields[.etag] == nil)
        #expect(reader.status == .ok)
    }

    @Test("Skips lines that are no fields")
    func linesWithoutFieldArePassedOver() {
        var reader = ResponseHeadReader(maximumBytes: 1000)
        #expect(Self.read(["HTTP/1.1 200 OK", "nonsense", "Content-Length : 5", ": x", "A: b", ""], into: &reader) == .complete)
        #expect(reader.fields.count == 1)
    }

    @Test(
        "Refuses malformed status lines",
        arguments: [
            "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 abc", "HTTP/1.1", "HTTP/1", "HTTP/11 200 OK", "HTTP/1.1 099 x",
            "HTTP/1.1  200 OK",
            "HTTP/1.1-200 OK", "HTTP/x.1 200 OK", "HTTP/1.1 200OK",
        ])
    func badStatusLinesAreRefused(line: String) {
        var reader = ResponseHeadReader(maximumBytes: 1000)
        guard case .failed(.invalidResponse) = Self.read([line], into: &reader) else {
            Issue.record("\(line) is taken")
            return
        }
    }

    @Test("Refuses an unrequested protocol change")
    func unaskedProtocolChangeIsRefused() {
        var reader = ResponseHeadReader(maximumBytes: 1000)
        let progress = Self.read(["HTTP/1.1 101 Switching Protocols", "Upgrade: h2c", ""], into: &reader)
        #expect(progress == .failed(.invalidResponse("it changes the protocol without a request")))
    }

    @Test("Limits heads over all responses of an exchange")
    func headsAreBoundedTogether() {
        var reader = ResponseHeadReader(maximumBytes: 100)
        var progress = ResponseHeadReader.Progress.incomplete
        for _ in 0..<5 where progress == .incomplete { progress = Self.read(["HTTP/1.1 103 Early Hints", ""], into: &reader) }
        #expect(progress == .failed(.invalidResponse("its head is larger than 100 bytes")))
    }

    @Test(
        "Reads a consistent length",
        arguments: [
            (["0"], 0), (["5"], 5), (["5", "5"], 5), (["5, 5"], 5), ([" 7 "], 7), (["9223372036854775807"], Int64.max),
            (["007"], 7),
        ] as [([String], Int64)])
    func consistentLengthIsKnown(values: [String], length: Int64) throws {
        var reader = ResponseHeadReader(maximumBytes: 1000)
        #expect(Self.read(["HTTP/1.1 200 OK"] + values.map { "Content-Length: \($0)" } + [""], into: &reader) == .complete)
        #expect(try ResponseHeadReader.contentLength(reader.fields).get() == length)
    }

    @Test(
        "Refuses contradictory and invalid lengths",
        arguments: [
            ["5", "6"], ["5, 6"], ["-1"], ["+5"], ["5x"], ["5 5"], [""], ["5,"], ["9223372036854775808"], ["0x10"], ["5", ""],
        ])
    func badLengthsAreRefused(values: [String]) {
        var reader = ResponseHeadReader(maximumBytes: 1000)
        let progress = Self.read(["HTTP/1.1 200 OK"] + values.map { "Content-Length: \($0)" } + [""], into: &reader)
        guard case .failed(.invalidResponse) = progress else {
            Issue.record("\(values) is taken")
            return
        }
    }

    @Test("A transfer coding makes the length unknown")
    func transferCodingHidesLength() throws {
        var reader = ResponseHeadReader(maximumBytes: 1000)
        #expect(
            Self.read(["HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: chunked", ""], into: &reader) == .complete)
        #expect(try ResponseHeadReader.contentLength(reader.fields).get() == nil)
    }
}
