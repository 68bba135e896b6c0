import HTTPCore
import Testing

@testable import DownloadCore
@testable import DownloadStore

@Suite("Content codings") struct ContentCodingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let coding: String
        var name = "file.bin"
        var type: String?
        /// Whether the response has a validator and a length, as a file has.
        var isFile = false
        /// Whether the bytes differ from the file's.
        let isCoded: Bool
        var testDescription: String { "\(coding), \(name), \(type ?? "no type")" }

        init(_ coding: String, _ name: String = "file.bin", type: String? = nil, isFile: Bool = false, isCoded: Bool) {
            (self.coding, self.name, self.type, self.isFile, self.isCoded) = (coding, name, type, isFile, isCoded)
        }
    }

    static let meaningless = [
        "identity", "UTF-8", "utf-8", "none", "None", "binary", "aws-chunked", "", ",", "x-unknown", "8bit",
    ]

    static let cases: [Case] =
        meaningless.map { Case($0, isCoded: false) }
        + ["gzip", "GZip", "x-gzip", "br", "zstd", "deflate", "compress", "X-Compress"].map { Case($0, isCoded: true) }
        + [
            Case("identity, none", isCoded: false), Case("aws-chunked,gzip", isCoded: true),
            Case("gzip, identity", "a.tar.gz", isCoded: false), Case("aws-chunked, gzip", "a.tgz", isCoded: false),
            // One of the two was applied to a file that is gzip already.
            Case("gzip, gzip", "a.tar.gz", isCoded: true), Case("gzip, br", "a.tar.gz", isCoded: true),
        ]
        + ["a.tar.gz", "a.tgz", "a.GZ", "A.TAR.GZ", "a (2).tar.gz", "a.svgz", "a.cpio.gz", "é.gz"].flatMap {
            [Case("gzip", $0, isCoded: false), Case("x-gzip", $0, isCoded: false), Case("br", $0, isCoded: true)]
        }
        + [
            "application/gzip", "application/x-gzip", "Application/GZIP; x=y", "application/x-compressed-tar",
            "application/x-tgz",
            "application/vnd.oci.image.layer.v1.tar+gzip", "application/x-gtar-compressed",
        ].flatMap { [Case("gzip", type: $0, isCoded: false), Case("zstd", type: $0, isCoded: true)] }
        + [
            Case("zstd", "a.tar.zst", isCoded: false), Case("zstd", type: "application/zstd", isCoded: false),
            Case("br", "a.br", isCoded: false), Case("compress", "a.tar.Z", isCoded: false),
            Case("x-compress", type: "application/x-compress", isCoded: false),
            // Files without a coding.
            Case("gzip", "gz", isCoded: true), Case("gzip", ".gz", isCoded: false), Case("gzip", "a.gz.txt", isCoded: true),
            Case("gzip", "a.zip", type: "application/zip", isCoded: true),
            Case("gzip", "a.tar", type: "application/x-tar", isCoded: true),
            // Files of other types that are compressed.
            Case("gzip", "data.json.gz", type: "application/json", isCoded: false),
            Case("gzip", "sitemap.xml.gz", type: "text/xml", isCoded: false),
            Case("gzip", "page.html.gz", type: "text/html", isCoded: false),
            // An error page in place of an archive.
            Case("gzip", "a.tar.gz", type: "text/html; charset=utf-8", isCoded: true),
        ]
        // Twisted and WebOb send the type of the name without its last extension.
        + [
            ("gzip", "Packages.gz"), ("gzip", "disk.img.gz"), ("gzip", "db.dump.gz"), ("gzip", "a.tar.gz"), ("gzip", "a.tz"),
            ("compress", "x.tar.Z"), ("br", "v.br"), ("zstd", "a.zst"),
        ].flatMap { coding, name in
            ["text/html", "text/plain", "application/octet-stream", "application/json", nil].map {
                Case(coding, name, type: $0, isFile: true, isCoded: false)
            }
        }
        + [
            Case("gzip", "a.html", type: "text/html", isFile: true, isCoded: true),
            Case("br", "a.tar.gz", type: "text/html", isFile: true, isCoded: true),
        ]

    @Test("Only an applied coding changes the bytes", arguments: cases)
    func isCoded(_ rule: Case) {
        var response = OriginResponse(status: 200)
        response.contentEncoding = rule.coding
        response.contentType = rule.type
        response.names = [rule.name]
        if rule.isFile { (response.lastModified, response.contentLength) = ("Sat, 21 Nov 2026 10:00:30 GMT", 10) }
        #expect(response.isCoded == rule.isCoded)
        var decision = ResumeDecision()
        _ = decision.begin(entity: nil, offset: 0)
        switch decision.evaluate(response) {
        case .restart(let body): #expect(!rule.isCoded && body.entity.coding == response.coding)
        case .fail(let failure): #expect(rule.isCoded && failure.code == .unsupportedEncoding && !failure.retryable)
        default: Issue.record("neither taken nor refused")
        }
    }

    @Test("Any of its names shows the type of a file")
    func names() {
        var response = OriginResponse(status: 200)
        response.contentEncoding = "gzip"
        response.names = ["get", "latest", "a.tar.gz"]
        #expect(!response.isCoded)
        response.names = []
        #expect(response.isCoded)
    }

    @Test(
        "A range continues bytes of the same coding; without one, the length decides",
        arguments: [
            ("gzip", "gzip", 100, true), ("gzip", "x-gzip", 100, true), ("gzip", nil, 100, true), ("gzip", nil, nil, false),
            ("gzip", "br", 100, false), ("gzip", "UTF-8", 100, true), (nil, "gzip", 100, false), (nil, "none", 100, true),
        ] as [(String?, String?, Int64?, Bool)])
    func parts(saved: String?, sent: String?, total: Int64?, isTaken: Bool) {
        let entity = SavedEntity(etag: #""v1""#, total: total, coding: saved)
        var response = OriginResponse(status: 206)
        response.etag = #""v1""#
        response.contentRange = "bytes 40-99/100"
        response.contentEncoding = sent
        #expect((response.contradiction(to: entity, from: 40) == nil) == isTaken)
        var decision = ResumeDecision()
        #expect(decision.begin(entity: entity, offset: 40) == .ask(.init(offset: 0, ifRange: #""v1""#, isRange: true)))
    }
}
