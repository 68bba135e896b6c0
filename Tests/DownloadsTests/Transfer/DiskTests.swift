import Foundation
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadTransfer
@testable import Downloads

struct DiskTests {
    @Test(
        "Leaves space for others",
        arguments: [
            (100 << 20, 90 << 20, 1 << 40, true), (100 << 20, 97 << 20, 1 << 40, false), (100, 0, 100, true), (0, 100, 0, true),
            (0, 0, 100, true),
            (-5, 0, 100, true), (-5, 1, 100, false), (6 << 20, 5 << 20, 8 << 20, true),
        ] as [(Int64, Int64, Int64, Bool)])
    func room(free: Int64, wanted: Int64, size: Int64, suffices: Bool) {
        #expect((wanted == 0 || FileSystemSpace(size: size, free: free).hasRoom(for: wanted)) == suffices)
    }

    @Test(
        "The error of a file decides about another attempt",
        arguments: [
            (ENOSPC, .insufficientStorage, false), (EDQUOT, .insufficientStorage, false), (EIO, .ioError, false),
            (EROFS, .ioError, false), (ENOTCONN, .ioError, false), (EMFILE, .ioError, true), (ENFILE, .ioError, true),
            (ENOMEM, .ioError, true),
        ] as [(Int32, FailureCode, Bool)])
    func causes(code: Int32, failure: FailureCode, isRetried: Bool) {
        let told = DownloadFailure(FileError("write", "/x", SystemError(code)))
        #expect(told.code == failure)
        #expect(told.retryable == isRetried)
    }

    @Test(
        "Reasons for starting over",
        arguments: [
            (ENOENT, .missing, true), (ELOOP, .notRegular, true), (EISDIR, .notRegular, true), (ENOSPC, .full, false),
            (EMFILE, .transient, false), (EIO, .device, false), (EROFS, .device, false), (ENOTCONN, .device, false),
            (ECONNABORTED, .device, false), (ENODEV, .device, false), (ESTALE, .device, false), (EACCES, .other, false),
            (EEXIST, .other, false),
        ] as [(Int32, FileError.Kind, Bool)])
    func kinds(code: Int32, kind: FileError.Kind, meansNoBytes: Bool) {
        let error = FileError("open", "/x", SystemError(code))
        #expect(error.kind == kind)
        #expect(error.meansNoBytes == meansNoBytes)
        #expect(error.message.hasPrefix("open /x: "))
        #expect(!error.losesBytes)
    }
}
