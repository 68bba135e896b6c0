internal import JSON
internal import System

/// The results of the last search, so that `pawl add 3` knows the third.
struct SearchMemory: Sendable, Equatable {
    /// A result, as far as adding needs it.
    struct Result: Sendable, Equatable {
        /// The source's identifier, such as `itunes:5000710101`.
        let id: String
        /// What it is called.
        let name: String
        /// Whether there is anything to download.
        let isDownloadable: Bool
    }

    /// What was searched for.
    let term: String
    /// In the order they were shown.
    let results: [Result]

    /// The most bytes of the file: 200 results have about 50,000.
    private static let limit = 1 << 20

    init(term: String, results: [Result]) {
        self.term = term
        self.results = results
    }

    /// Reads a service's response to a search, or what was kept of it: both have the members used here.
    init?(_ value: JSONValue) {
        guard let term = value["term"]?.string, let results = value["results"]?.array else { return nil }
        self.term = term
        self.results = results.compactMap { result in
            guard let id = result["id"]?.string else { return nil }
            return Result(
                id: id, name: result["name"]?.string ?? id, isDownloadable: result["downloadUrl"]?.string?.isEmpty == false)
        }
    }

    /// Where it is kept (XDG Base Directory Specification 0.8): `nil` if the environment names no home.
    static func path(_ variable: (String) -> String?) -> String? {
        // Relative paths are invalid there, and ignored.
        if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/pawl/search.json" }
        guard let home = variable("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/pawl/search.json"
    }

    /// Keeps the members of a response that adding needs. It is a convenience: where they cannot be kept, the line that is returned says why.
    static func keep(_ response: JSONValue, _ path: String?) -> String? {
        guard let path else { return "results are not kept for pawl add: neither XDG_STATE_HOME nor HOME names a directory" }
        let results = (response["results"]?.array ?? []).map { result in
            JSONValue.object(
                ["id", "name", "downloadUrl"].map { JSONMember(name: $0, value: result[$0] ?? .null) })
        }
        let kept = JSONValue.object([
            JSONMember(name: "term", value: response["term"] ?? .string("")), JSONMember(name: "results", value: .array(results)),
        ])
        do throws(SmallFile.Failure) {
            if let slash = path.lastIndex(of: "/") { try SmallFile.makeDirectory(String(path[..<slash])) }
            try SmallFile.write(kept.serialized(), to: path)
            return nil
        } catch {
            return "results are not kept for pawl add: \(error)"
        }
    }

    /// What was kept; `nil` if nothing was, or it cannot be read.
    static func read(_ path: String?) -> SearchMemory? {
        guard let path, let bytes = try? SmallFile.read(path, limit: limit), let value = try? JSONValue(parsing: bytes) else {
            return nil
        }
        return SearchMemory(value)
    }

    /// The results with these numbers, counted from 1.
    /// - Throws: one line that says which is not to be had.
    static func results(_ numbers: ClosedRange<Int>, of memory: SearchMemory?) throws(RemoteError) -> [Result] {
        guard let memory else {
            throw .usage("no search is kept to take result \(numbers.lowerBound) from: run pawl search WORD first")
        }
        guard numbers.upperBound <= memory.results.count else {
            throw .usage(
                "the last search, for '\(memory.term)', has \(memory.results.count) results: there is no \(numbers.upperBound)")
        }
        let chosen = Array(memory.results[(numbers.lowerBound - 1)..<numbers.upperBound])
        if let result = chosen.first(where: { !$0.isDownloadable }) {
            throw .usage("'\(result.name)' of the last search has nothing to download")
        }
        return chosen
    }
}
