import Foundation
import Glibc
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct FileHandleTests {
    @Test("Recently written bytes are in memory, bytes beyond the end nowhere")
    func recentlyWrittenBytes() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/file"
        try Data(repeating: 7, count: 10_000).write(to: URL(filePath: path))
        let file = try FileHandle(opening: path)
        for offset in [0, 5_000, 9_999] as [Int64] where !file.isCached(offset) {
            // The kernel cannot report this for some file systems, such as tmpfs.
            #expect(errno == EOPNOTSUPP)
        }
        for offset in [10_000, 1 << 40, .max] as [Int64] { #expect(!file.isCached(offset)) }
    }
}
