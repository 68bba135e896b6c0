internal import Glibc

/// The error number of a failed system call, and its text.
struct SystemError: Error, Equatable {
    let number: Int32

    init(_ number: Int32) {
        self.number = number
    }

    /// That of the call that just failed on this thread.
    static var last: SystemError { SystemError(errno) }

    var text: String {
        switch number {
        case EACCES: "permission denied"
        case EADDRINUSE: "address already in use"
        case EADDRNOTAVAIL: "no such address on this host"
        case ENOENT: "no such file or directory"
        case EMFILE: "the process has too many open files"
        case ENFILE: "the system has too many open files"
        case ENOMEM: "out of memory"
        default: unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        }
    }
}
