internal import CSystem

/// Marks a file when the process crashes by a signal such as SIGSEGV or SIGABRT, but not SIGKILL.
public enum CrashMark {
    /// Makes a crash write `!` at an offset of the file, which must stay open. A process marks only one file: the last
    /// call's.
    public static func write(to file: FileDescriptor, at offset: Int64) {
        pawl_mark_crash(file.number, offset)
    }
}
