internal import CPostgres

/// libpq, which is loaded at the first connection and stays loaded.
enum PostgresLibrary {
    #if os(macOS)
        static let name = "libpq.5.dylib"
    #else
        static let name = "libpq.so.5"
    #endif

    /// The oldest supported version, in the form of PQlibVersion: 14.0, the first with pipeline mode.
    static let oldest: Int32 = 14_00_00

    /// Loaded once: without a restart in another environment, a second try would fail as well.
    private static let outcome: Result<Void, PostgresError> = Result { () throws(PostgresError) in try load(name) }

    /// Loads libpq at the first call.
    /// - Throws: `PostgresError.library`.
    static func load() throws(PostgresError) {
        try outcome.get()
    }

    /// Loads the library of this name.
    /// - Throws: `PostgresError.library`.
    static func load(_ name: String) throws(PostgresError) {
        var version: Int32 = 0
        var reason: UnsafePointer<CChar>?
        let outcome = unsafe pawl_load_libpq(name, &version, &reason)
        let text = unsafe reason.map { unsafe PostgresError.oneLine(String(cString: $0)) } ?? ""
        if let refusal = refusal(outcome, version: version, name: name, reason: text) { throw .library(refusal) }
    }

    /// The reason why a library cannot be used; `nil` if it can.
    /// - Parameter version: Major · 10,000 + minor; 0 if it is unknown.
    static func refusal(_ outcome: pawl_libpq_outcome, version: Int32, name: String, reason: String) -> String? {
        if outcome == PAWL_LIBPQ_NOT_FOUND {
            return "\(name) cannot be loaded: install libpq5 (Debian), libpq (Alpine, Homebrew) or postgresql-libs (\(reason))"
        }
        if version > 0, version < oldest {
            // Up to 9.6, the major version had two numbers.
            let major = version >= 10_00_00 ? "\(version / 10_000)" : "\(version / 10_000).\(version / 100 % 100)"
            return "libpq \(major).\(version % 100) is too old: 14 or newer is needed"
        }
        return outcome == PAWL_LIBPQ_LOADED ? nil : "\(name) has no function \(reason): libpq 14 or newer is needed"
    }
}
