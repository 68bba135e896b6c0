internal import CSystem
internal import Glibc

/// The environment and the limits of this process.
public enum ProcessEnvironment {
    /// The variables whose names begin with one of the prefixes, by name.
    public static func variables(beginningWith prefixes: [String]) -> [String: String] {
        variables { name in prefixes.contains { name.hasPrefix($0) } }
    }

    /// The variables whose names end with the suffix, by name.
    public static func variables(endingWith suffix: String) -> [String: String] {
        variables { $0.hasSuffix(suffix) }
    }

    private static func variables(where isWanted: (Substring) -> Bool) -> [String: String] {
        var variables: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let parts = unsafe String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, isWanted(parts[0]) {
                variables[String(parts[0])] = String(parts[1])
            }
            unsafe entry += 1
        }
        return variables
    }

    /// The value of a variable; `nil` if it is not set.
    public static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// Whether this process may read the file or directory at a path.
    public static func isReadableFile(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

    /// The absolute path without links, `.` and `..`. A path that cannot be resolved is returned unchanged.
    public static func absolutePath(_ path: String) -> String {
        guard let resolved = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// The maximum number of descriptors of this process.
    public static var descriptorLimit: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// The number of descriptors that are left to libraries. Clients have as many more that files do not get.
    public static var descriptorReserve: Int { min(64, descriptorLimit / 16) }

    /// Whether files and connections to origins have used up their share of the descriptors.
    public static var lacksDescriptors: Bool { !pawl_has_descriptors() }

    /// Raises the descriptor limit to its hard limit, since each connection and each transfer needs descriptors. From then
    /// on, no file, accepted connection or connection to an origin gets one of the reserve. Must be called before other
    /// threads open files.
    public static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let (all, reserve) = (descriptorLimit, descriptorReserve)
        pawl_share_descriptors(Int32(clamping: all - 2 * reserve), Int32(clamping: all - reserve))
    }
}
