import DownloadCore
import Downloads
import HTTPCore
import JSON
import Testing

@testable import Aria2

@Suite("Pieces")
struct PiecesTests {
    private func bits(_ total: Int64?, _ ranges: [Range<Int64>]) -> String {
        Pieces(of: total).bitfield(of: ranges).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    @Test("The first piece is the highest bit, and the last piece ends with the file")
    func bitfields() {
        let piece: Int64 = 1 << 20
        #expect(bits(nil, []) == "")
        #expect(bits(0, []) == "")
        #expect(bits(1000, [0..<1000]) == "80")
        #expect(bits(1000, [0..<999]) == "00")
        #expect(bits(piece + 1, [0..<piece]) == "80")
        #expect(bits(piece + 1, [0..<piece + 1]) == "c0")
        #expect(bits(piece + 1, [1..<piece + 1]) == "40")
        #expect(bits(9 * piece, [0..<piece, 3 * piece - 1..<5 * piece, 8 * piece..<9 * piece]) == "9880")
        #expect(bits(8 * piece, [0..<8 * piece]) == "ff")
        #expect(bits(8 * piece, [piece..<8 * piece]) == "7f")
    }

    @Test("Limits the number of pieces for any claimed size")
    func bounded() {
        #expect(Pieces(of: 1 << 36).count == 1 << 15)
        #expect(Pieces(of: (1 << 36) - 1).count == 1 << 16)
        #expect(Pieces(of: (1 << 36) - 1).length == 1 << 20)
        let pieces = Pieces(of: .max)
        #expect(Int64(pieces.count) <= Pieces.maximumCount)
        #expect(pieces.bitfield(of: [0..<Int64.max]).allSatisfy { $0 == 0xFF })
        #expect(Pieces(of: -5).count == 0)
    }
}

@Suite("Rendering of downloads")
struct DownloadViewTests {
    private let view = DownloadView(files: FilesDirectory("/data/files"))

    private func download(_ state: DownloadState, _ change: (inout Download) -> Void = { _ in }) -> Download {
        var download = Download(
            id: RecordID(value: 7), url: "http://h/a?x=1", state: state, createdAt: Timestamp(millisecondsSinceEpoch: 0))
        change(&download)
        return download
    }

    private func rendered(_ download: Download, _ keys: StatusKeys = .all) -> String {
        var writer = JSONWriter()
        view.encode(download, keys, into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("A waiting download lacks only the members of known files and ended downloads")
    func waiting() {
        let waiting = download(.queued)
        #expect(
            rendered(waiting) == """
                {"completedLength":"0","connections":"0","dir":"/data/files","downloadSpeed":"0","files":[{"completedLength":"0",\
                "index":"1","length":"0","path":"","selected":"true","uris":[{"status":"waiting","uri":"http://h/a?x=1"}]}],\
                "gid":"\(waiting.gid)","numPieces":"0","pieceLength":"1048576","status":"waiting","totalLength":"0",\
                "uploadLength":"0","uploadSpeed":"0"}
                """)
    }

    @Test("A transferring download has pieces, figures and a path")
    func active() {
        let active = download(.downloading) {
            $0.bytesTotal = 2 << 20
            $0.bytesReceived = 1 << 20
            $0.bytesPerSecond = 5
            $0.segments = 2
            $0.attempts = 1
            $0.filename = "a \"b\".bin"
            $0.folder = "music"
        }
        #expect(
            rendered(active) == """
                {"bitfield":"80","completedLength":"1048576","connections":"2","dir":"/data/files/music","downloadSpeed":"5",\
                "files":[{"completedLength":"1048576","index":"1","length":"2097152","path":"/data/files/music/a \\"b\\".bin",\
                "selected":"true","uris":[{"status":"used","uri":"http://h/a?x=1"}]}],"gid":"\(active.gid)","numPieces":"2",\
                "pieceLength":"1048576","status":"active","totalLength":"2097152","uploadLength":"0","uploadSpeed":"0"}
                """)
    }

    @Test("Renders requested keys only")
    func keys() {
        let failed = download(.failed) { $0.error = DownloadFailure(.httpStatus, "gone", httpStatus: 404) }
        #expect(
            rendered(failed, [.errorCode, .errorMessage, .status]) == #"{"errorCode":"3","errorMessage":"gone","status":"error"}"#
        )
        #expect(rendered(download(.paused), [.errorCode, .errorMessage, .status, .bitfield]) == #"{"status":"paused"}"#)
        #expect(rendered(failed, []) == "{}")
        let whole = download(.completed) { $0.bytesReceived = 10 }
        #expect(
            rendered(whole, [.bitfield, .errorCode, .errorMessage, .totalLength])
                == #"{"bitfield":"80","errorCode":"0","errorMessage":"","totalLength":"10"}"#)
    }

    @Test("States and failures have aria2's names and numbers")
    func codes() {
        let states: [(DownloadState, String)] = [
            (.queued, "waiting"), (.downloading, "active"), (.retrying, "active"), (.paused, "paused"), (.completed, "complete"),
            (.failed, "error"), (.cancelled, "removed"),
        ]
        #expect(states.count == DownloadState.allCases.count)
        for (state, name) in states { #expect(Aria2Status(state).rawValue == name) }
        let codes: [(FailureCode, Int?, Int64)] = [
            (.httpStatus, 404, 3), (.httpStatus, 401, 24), (.httpStatus, 503, 29), (.httpStatus, 429, 29), (.httpStatus, 403, 22),
            (.timedOut, nil, 2), (.connectionFailed, nil, 6), (.transferBroken, nil, 6), (.unexpectedEmpty, nil, 6),
            (.tooManyRedirects, nil, 23),
            (.checksumMismatch, nil, 32), (.insufficientStorage, nil, 9), (.entityChanged, nil, 8), (.ioError, nil, 17),
            (.destinationForbidden, nil, 1), (.mediaTypeMismatch, nil, 1), (.unsupportedEncoding, nil, 1), (.tlsFailure, nil, 1),
        ]
        #expect(Set(codes.map(\.0)) == Set(FailureCode.allCases))
        for (code, status, number) in codes {
            #expect(download(.failed) { $0.error = DownloadFailure(code, "", httpStatus: status) }.errorCode == number)
        }
        #expect(download(.cancelled).errorCode == 31)
        #expect(download(.completed).errorCode == 0)
    }

    @Test("Results of a multicall are in lists of one element, errors are not")
    func multicall() {
        var writer = JSONWriter()
        writer.response(
            to: Array("12345678901234567890".utf8),
            .success(.results([.success(.ok), .failure(.unauthorized), .success(.results([])), .success(.numbers([1, 2]))])), view
        )
        #expect(
            String(decoding: writer.bytes, as: UTF8.self) == """
                {"id":12345678901234567890,"jsonrpc":"2.0","result":[["OK"],{"code":1,"message":"Unauthorized"},[[]],[[1,2]]]}
                """)
    }

    @Test("Figures are strings of digits")
    func figures() {
        for number in [0, 7, -12, Int64.max, .min] as [Int64] {
            var writer = JSONWriter()
            writer.beginObject()
            writer.figure("n", number)
            writer.endObject()
            #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"n":"\#(number)"}"#)
        }
    }
}

@Suite("Responses in XML")
struct XMLWriterTests {
    private let view = DownloadView(files: FilesDirectory("/data/files"))

    private func response(_ result: Result<Answer, RPCError>) -> String {
        var writer = XMLWriter()
        writer.response(result, view)
        return String(decoding: writer.bytes, as: UTF8.self)
            .replacing("<?xml version=\"1.0\"?><methodResponse>", with: "").replacing("</methodResponse>", with: "")
            .replacing("<params><param><value>", with: "").replacing("</value></param></params>", with: "")
    }

    private static let busy =
        "<struct><member><name>faultCode</name><value><int>1</int></value></member>"
        + "<member><name>faultString</name><value><string>a&lt;b</string></value></member></struct>"

    @Test("Writes results in the types of XML-RPC, and errors as faults of code 1")
    func results() {
        #expect(response(.success(.ok)) == "<string>OK</string>")
        #expect(
            response(.success(.numbers([1, -2])))
                == "<array><data><value><int>1</int></value><value><int>-2</int></value></data></array>")
        #expect(response(.success(.noPeers)) == "<array><data></data></array>")
        #expect(response(.failure(RPCError("a<b"))) == "<fault><value>\(Self.busy)</value></fault>")
        #expect(response(.failure(.parse)).contains("<value><int>1</int></value>"))
        #expect(
            response(.success(.options([("a", "1\n&\u{1}"), ("b", "é")])))
                == "<struct><member><name>a</name><value><string>1&#10;&amp;</string></value></member>"
                + "<member><name>b</name><value><string>é</string></value></member></struct>")
        #expect(
            response(.success(.results([.success(.number(3)), .failure(RPCError("a<b"))])))
                == "<array><data><value><array><data><value><int>3</int></value></data></array></value><value>\(Self.busy)</value></data></array>"
        )
    }

    @Test("Ends each member and each list of a status")
    func status() {
        var download = Download(
            id: RecordID(value: 7), url: "http://h/a?x=1&y", state: .queued, createdAt: Timestamp(millisecondsSinceEpoch: 0))
        download.filename = "a&b"
        let text = response(.success(.status(download, StatusKeys([.string("gid"), .string("files")]), nil)))
        #expect(text.hasPrefix("<struct><member><name>files</name><value><array><data><value><struct>"))
        #expect(text.contains("<name>path</name><value><string>/data/files/a&amp;b</string></value></member>"))
        #expect(
            text.contains(
                "<value><string>http://h/a?x=1&amp;y</string></value></member></struct></value></data></array></value></member>"))
        #expect(text.hasSuffix("<member><name>gid</name><value><string>\(download.gid)</string></value></member></struct>"))
    }

    @Test("Replaces a result beyond the limit by a fault")
    func limit() {
        let large = Answer.options([("a", String(repeating: "x", count: Answer.maximumBytes))])
        #expect(response(.success(large)).contains(RPCError.tooLarge.message))
        let text = response(.success(.results([.success(.ok), .success(large), .success(.ok)])))
        #expect(text.utf8.count < 1_000 && text.contains(RPCError.tooLarge.message))
    }
}
