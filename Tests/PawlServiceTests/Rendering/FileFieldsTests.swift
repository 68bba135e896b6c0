import HTTPCore
import HTTPServer
import System
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import PawlService

@Suite("The cache of finished files")
struct FileFieldsTests {
    private let index = SnapshotIndex()
    private let files = FileFields()
    private let id = RecordID(value: 1)
    private let identity = FileIdentity(device: 1, inode: 2, size: 3, modified: 4)

    private func publish(_ change: (inout Download) -> Void = { _ in }) throws -> Download {
        var download = Download(
            id: id, url: "http://a.example/1", state: .completed, createdAt: Timestamp(millisecondsSinceEpoch: 0))
        download.filename = "a.bin"
        download.sha256 = String(repeating: "ab", count: 32)
        download.file = identity
        change(&download)
        index.publish(download, counters: nil)
        return try #require(index.download(id))
    }

    private func kept() throws -> FileFields.File? {
        files.file(try #require(index.version(of: id)))
    }

    @Test("An entry has the file's location and the response's fields, computed or cached")
    func fields() throws {
        let download = try publish { $0.mediaType = "audio/wav" }
        #expect(try kept() == nil)
        let made = files.file(of: download, named: "a.bin")
        for file in [made, try #require(try kept())] {
            #expect(file.name == "a.bin")
            #expect(file.identity == identity)
            #expect(file.mediaType == "audio/wav")
            #expect(file.etag == EntityTag(opaque: String(repeating: "ab", count: 32)))
            #expect(file.attachment[.contentDisposition] == "attachment; filename=\"a.bin\"")
            #expect(file.inline[.contentDisposition] == "inline; filename=\"a.bin\"")
            for fields in [file.attachment, file.inline] {
                #expect(fields[.contentSecurityPolicy]?.hasPrefix("sandbox;") == true)
                #expect(fields[.crossOriginResourcePolicy] == nil)
                #expect(fields[.cacheControl] == "private, no-cache")
            }
        }
    }

    @Test("The fields of a response with the whole file are those that the server writes")
    func wholeFile() throws {
        let file = files.file(of: try publish { $0.mediaType = "audio/wav" }, named: "a.bin")
        var response = Response()
        response.serve(
            [0, 1, 2], for: Request(), mediaType: file.mediaType, etag: file.etag,
            lastModified: HTTPDate(secondsSinceEpoch: identity.modified / 1_000_000_000))
        response.fields.append(contentsOf: file.attachment)
        #expect(file.whole == response.fields)
        #expect(response.status == .ok)
    }

    @Test("Each publication is another entry, also after a removal")
    func publications() throws {
        _ = files.file(of: try publish(), named: "a.bin")
        #expect(try kept() != nil)
        _ = try publish { $0.fileMissing = true }
        #expect(try kept() == nil)
        #expect(files.file(of: try #require(index.download(id)), named: "a.bin").identity == nil)
        _ = files.file(of: try publish(), named: "a.bin")
        _ = index.remove(id)
        #expect(index.version(of: id) == nil)
        _ = try publish { $0.filename = "b.bin" }
        #expect(try kept() == nil)
    }
}
