import Glibc
import System
import Testing

@Suite struct SystemErrorTests {
    @Test(
        "An error number has a kind for callers",
        arguments: [
            (ENOSPC, SystemError.Kind.outOfSpace), (EDQUOT, .outOfSpace), (EFBIG, .outOfSpace), (ENOENT, .notFound),
            (ENOTDIR, .notFound), (EEXIST, .alreadyExists), (ELOOP, .notRegular), (EISDIR, .notRegular), (ENOSYS, .unsupported),
            (EMFILE, .transient), (ENOMEM, .transient), (EAGAIN, .transient), (EIO, .other), (EPERM, .other),
        ])
    func errorNumbersAreClassified(number: Int32, kind: SystemError.Kind) {
        #expect(SystemError(number).kind == kind)
        #expect(!SystemError(number).description.isEmpty)
    }
}
