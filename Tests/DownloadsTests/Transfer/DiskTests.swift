import Foundation
import TestSupport
import Testing

@testable import Downloads

struct DiskTests {
    @Test(
        "room is left for others",
        arguments: [
            (100 << 20, 90 << 20, 1 << 40, true), (100 << 20, 97 << 20, 1 << 40, false), (100, 0, 100, true), (0, 100, 0, true),
            (0, 0, 100, true),
            (-5, 0, 100, true), (-5, 1, 100, false), (6 << 20, 5 << 20, 8 << 20, true),
        ] as [(Int64, Int64, Int64, Bool)])
    func room(free: Int64, wanted: Int64, size: Int64, suffices: Bool) {
        #expect(DiskReservations.suffices(free: free, wanted: wanted, size: size) == suffices)
    }

    @Test(
        "what failed at a file decides whether it is tried again",
        arguments: [
            (ENOSPC, .insufficientStorage, false), (EDQUOT, .insufficientStorage, false), (EIO, .ioError, false),
            (EROFS, .ioError, false), (EMFILE, .ioError, true), (ENFILE, .ioError, true), (ENOMEM, .ioError, true),
        ] as [(Int32, FailureCode, Bool)])
    func causes(code: Int32, failure: FailureCode, isRetried: Bool) {
        let told = DownloadFailure(FileError(operation: "write", path: "/x", code: code))
        #expect(told.code == failure)
        #expect(told.retryable == isRetried)
    }

    @Test(
        "what seemed written is not believed after a failed sync",
        arguments: [
            ("write", ENOSPC, false), ("write", EIO, false), ("sync", ENOSPC, true), ("sync the file system of", EIO, true),
            ("read", EIO, false), ("publish", EIO, false),
        ] as [(String, Int32, Bool)])
    func belief(operation: String, code: Int32, losesBytes: Bool) {
        #expect(FileError(operation: operation, path: "/x", code: code).losesBytes == losesBytes)
    }

    @Test("room for bytes that have not come is given back, and the others stay")
    func givenBack() throws {
        let directory = try TemporaryDirectory()
        let part = try PartFile(path: directory.path + "/part", truncating: true)
        _ = try part.preallocate(8 << 20)
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        var written = Coverage()
        for start in [0, 3 << 20] as [Int64] {
            try unsafe part.write(piece.span.bytes, at: start)
            written.insert(start..<start + Int64(piece.count))
        }
        part.release(allBut: written)
        #expect(try part.size() == 4 << 20)
        #expect(try part.space().allocated < 3 << 20)
        let content = try [UInt8](Data(contentsOf: URL(filePath: part.path)))
        #expect(Array(content[..<piece.count]) == piece)
        #expect(Array(content[(3 << 20)...]) == piece)
    }
}
