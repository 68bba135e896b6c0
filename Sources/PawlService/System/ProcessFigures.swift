internal import Glibc
internal import System

/// The process's use of memory, processor time and descriptors, from `/proc` and getrusage(2).
enum ProcessFigures {
    /// Resident memory in bytes; `nil` if the system does not report it.
    static var residentBytes: Int64? {
        guard let text = try? SmallFile.read("/proc/self/statm", limit: 256) else { return nil }
        let numbers = text.split(separator: UInt8(ascii: " "))
        guard numbers.count > 1, let pages = Int64(String(decoding: numbers[1], as: UTF8.self)) else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Processor time used so far, in seconds, in user and system mode.
    static var processorSeconds: Double {
        var usage = rusage()
        guard unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1_000_000 }
    }

    /// The number of open descriptors; `nil` if the system does not report it.
    static var openDescriptors: Int? {
        guard let directory = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(directory) }
        var count = 0
        while unsafe readdir(directory) != nil { count += 1 }
        // Without `.`, `..` and the descriptor of this directory.
        return max(0, count - 3)
    }
}
