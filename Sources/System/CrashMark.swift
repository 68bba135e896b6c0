internal import CSystem

/// Leaves a mark in a file when the process crashes: by SIGSEGV, SIGABRT and the like, not by SIGKILL.
public enum CrashMark {
    /// Has a crash write `!` at an offset of the file, which has to stay open. One file per process has the mark: the last one.
    public static func write(to file: FileDescriptor, at offset: Int64) {
        pawl_mark_crash(file.number, offset)
    }

    /// Ends that, before the file is closed.
    public static func forget() {
        pawl_mark_crash(-1, 0)
    }
}
