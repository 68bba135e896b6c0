internal import JSON
internal import System

/// What was listed last, so that `pawl add 3` knows the third: the results of a search, and the parts of a work that were listed since.
struct SearchMemory: Sendable, Equatable {
    /// A result, or a part, as far as adding needs it.
    struct Result: Sendable, Equatable {
        /// The source's identifier, such as `itunes:5000710101`; empty if it gave none.
        let id: String
        /// What it is called.
        let name: String
        /// Whether there is anything to download.
        let isDownloadable: Bool
        /// Whether it is a work, and its parts can be listed.
        let hasParts: Bool
    }

    /// What one response listed.
    struct Listing: Sendable, Equatable {
        /// What was searched for, or the identifier of the work.
        let term: String
        /// What the work is called whose parts these are; `nil`: they were searched for.
        let work: String?
        /// In the order they were shown.
        let results: [Result]
    }

    /// What the last search found.
    let search: Listing?
    /// The parts that were listed since.
    let parts: Listing?

    /// What numbers mean.
    var latest: Listing? { parts ?? search }

    /// The most bytes of the file: 1,000 parts with long paths in their identifiers and links have about half of it.
    private static let limit = 8 << 20

    init(search: Listing? = nil, parts: Listing? = nil) {
        self.search = search
        self.parts = parts
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
        let listing = Listing.pruned(response)
        // Numbers of the search go on to lead to the parts of others.
        let search = response["of"] == nil ? listing : readJSON(path)?["search"] ?? .null
        let kept = JSONValue.object([
            JSONMember(name: "search", value: search), JSONMember(name: "parts", value: response["of"] == nil ? .null : listing),
        ])
        do throws(SmallFile.Failure) {
            if let slash = path.lastIndex(of: "/") { try SmallFile.makeDirectory(String(path[..<slash])) }
            try SmallFile.write(kept.serialized(), to: path)
            return nil
        } catch {
            return "results are not kept for pawl add: \(error)"
        }
    }

    /// What was kept; nothing if it cannot be read.
    static func read(_ path: String?) -> SearchMemory {
        let value = path.flatMap(readJSON)
        return SearchMemory(search: (value?["search"]).flatMap(Listing.init), parts: (value?["parts"]).flatMap(Listing.init))
    }

    private static func readJSON(_ path: String) -> JSONValue? {
        (try? SmallFile.read(path, limit: limit)).flatMap { try? JSONValue(parsing: $0) }
    }

    /// The result or part with that identifier, byte for byte; `nil` if it was not listed.
    func result(id: String) -> Result? {
        for listing in [parts, search] {
            if let result = listing?.results.first(where: { $0.id.utf8.elementsEqual(id.utf8) }) { return result }
        }
        return nil
    }

    /// Results with these numbers, counted from 1.
    /// - Throws: one line that says which is not to be had.
    static func results(_ numbers: ClosedRange<Int>, of listing: Listing?) throws(RemoteError) -> ArraySlice<Result> {
        guard let listing else {
            throw .usage("no search is kept to take result \(numbers.lowerBound) from: run pawl search WORD first")
        }
        let count = listing.results.count
        guard numbers.upperBound <= count else {
            let search = "the last search, for '\(listing.term)', has \(count) results"
            let list = listing.work.map { "the list of '\($0)' has \(count) parts" }
            throw .usage("\(list ?? search): there is no \(numbers.upperBound)")
        }
        return listing.results[(numbers.lowerBound - 1)..<numbers.upperBound]
    }
}

extension SearchMemory.Result {
    /// Reads a result of a response, or what was kept of it. What has no identifier can be neither added nor looked into, but counts.
    init(_ value: JSONValue) {
        id = value["id"]?.string ?? ""
        name = value["name"]?.string ?? id
        isDownloadable = !id.isEmpty && value["downloadUrl"]?.string?.isEmpty == false
        hasParts = !id.isEmpty && value["links"]?["parts"]?.string != nil
    }
}

extension SearchMemory.Listing {
    /// Reads a response to a search or a look into a work, or what was kept of it: both have the members used here.
    init?(_ value: JSONValue) {
        guard let term = value["term"]?.string, let results = value["results"]?.array else { return nil }
        self.term = term
        work = value["of"].map { $0["name"]?.string ?? term }
        self.results = results.map(SearchMemory.Result.init)
    }

    /// A response without the members that are not read here.
    fileprivate static func pruned(_ response: JSONValue) -> JSONValue {
        func only(_ names: [String], of value: JSONValue) -> JSONValue {
            .object(names.compactMap { name in value[name].map { JSONMember(name: name, value: $0) } })
        }
        var members = only(["term"], of: response).members ?? []
        if let work = response["of"] { members.append(JSONMember(name: "of", value: only(["name"], of: work))) }
        let results = (response["results"]?.array ?? []).map { only(["id", "name", "downloadUrl", "links"], of: $0) }
        return .object(members + [JSONMember(name: "results", value: .array(results))])
    }
}
