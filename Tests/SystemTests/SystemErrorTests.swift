import Glibc
import System
import Testing

@Suite struct SystemErrorTests {
    @Test(
        "An error number has a kind for callers",
        arguments: [
            (ENOSPC, SystemError.Kind.outOfSpace), (EDQUOT, .outOfSpace), (EFBIG, .outOfSpace), (ENOENT, .notFound),
            (ENOTDIR, .notFound), (EEXIST, .alreadyExists), (ELOOP, .notRegular), (EISDIR, .notRegular), (ENOSYS, .unsupported),
            (EMFILE, .transient), (ENOMEM, .transient), (EAGAIN, .transient), (EIO, .device), (EROFS, .device), (EPERM, .other),
        ])
    func errorNumbersAreClassified(number: Int32, kind: SystemError.Kind) {
        #expect(SystemError(number).kind == kind)
        #expect(!SystemError(number).description.isEmpty)
    }

    @Test(
        "After which errors a file may get its name in another way, and which ones mean that the disk has failed",
        arguments: [
            (EEXIST, false, false), (ENOSPC, false, true), (EDQUOT, false, true), (EROFS, false, true), (ENOENT, false, false),
            (ENAMETOOLONG, false, false), (EPERM, true, false), (EXDEV, true, false), (EMLINK, true, false), (EIO, true, true),
            (ERANGE, true, false), (EBADMSG, true, false), (ENOTCONN, true, true), (ESTALE, true, true),
        ])
    func otherWays(number: Int32, leavesOtherWays: Bool, meansFailure: Bool) {
        #expect(SystemError(number).leavesOtherWays == leavesOtherWays)
        #expect(SystemError(number).meansFailure == meansFailure)
    }
}
