internal import JSON
internal import System

/// The last listed results, to which `pawl add 3` refers: the results of a search, and the parts of a work that were
/// listed since.
struct SearchMemory: Sendable, Equatable {
    /// A result or part with the properties that adding needs.
    struct Result: Sendable, Equatable {
        /// The source's id, such as `itunes:5000710101`; empty if it gave none.
        let id: String
        /// The name.
        let name: String
        /// Whether it has a file to download.
        let isDownloadable: Bool
        /// Whether it is a work whose parts can be listed.
        let hasParts: Bool
    }

    /// The results of one response.
    struct Listing: Sendable, Equatable {
        /// The search text, or the id of the work.
        let term: String
        /// The name of the work whose parts these are; `nil` for results of a search.
        let work: String?
        /// The results in the listed order.
        let results: [Result]
    }

    /// The results of the last search.
    var search: Listing?
    /// The parts that were listed after it.
    var parts: Listing?

    /// The listing that numbers refer to.
    var latest: Listing? { parts ?? search }

    /// The maximum size of the file in bytes: 1,000 parts with long paths in their ids and links take about half of it.
    private static let limit = 8 << 20

    /// The path of the file (XDG Base Directory Specification 0.8); `nil` if the environment names no directory.
    static func path(_ variable: (String) -> String?, file: String = "search.json") -> String? {
        // The specification requires relative paths to be ignored.
        if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/pawl/" + file }
        guard let home = variable("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/pawl/" + file
    }

    /// Stores the members of a response that adding needs. Returns a line with the reason if that fails, which is only
    /// a warning.
    static func keep(_ response: JSONValue, _ path: String?) -> String? {
        guard let path else { return "results are not kept for pawl add: neither XDG_STATE_HOME nor HOME names a directory" }
        let listing = Listing.pruned(response)
        // A list of parts keeps the search, whose numbers `pawl parts` still uses.
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

    /// Reads the stored results; empty if they cannot be read.
    static func read(_ path: String?) -> SearchMemory {
        let value = path.flatMap(readJSON)
        return SearchMemory(search: (value?["search"]).flatMap(Listing.init), parts: (value?["parts"]).flatMap(Listing.init))
    }

    private static func readJSON(_ path: String) -> JSONValue? {
        (try? SmallFile.read(path, limit: limit)).flatMap { try? JSONValue(parsing: $0) }
    }

    /// The result or part with this id, compared by bytes; `nil` if it was not listed.
    func result(id: String) -> Result? {
        for listing in [parts, search] {
            if let result = listing?.results.first(where: { $0.id.utf8.elementsEqual(id.utf8) }) { return result }
        }
        return nil
    }

    /// The results with these numbers, counted from 1.
    /// - Throws: An error with one line of text if there is no such number.
    static func results(_ numbers: ClosedRange<Int>, of listing: Listing?) throws(RemoteError) -> ArraySlice<Result> {
        guard let listing else {
            throw .usage("there are no results to take number \(numbers.lowerBound) from: run pawl search WORD first")
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
    /// Parses a result of a response, or its stored form. A result without an id cannot be added or listed, but has a
    /// number.
    init(_ value: JSONValue) {
        id = value["id"]?.string ?? ""
        name = value["name"]?.string ?? id
        isDownloadable = !id.isEmpty && value["downloadUrl"]?.string?.isEmpty == false
        hasParts = !id.isEmpty && value["links"]?["parts"]?.string != nil
    }
}

extension SearchMemory.Listing {
    /// Parses a response to a search or a request for parts, or its stored form: the members used here are the same.
    init?(_ value: JSONValue) {
        guard let term = value["term"]?.string, let results = value["results"]?.array else { return nil }
        self.term = term
        work = value["of"].map { $0["name"]?.string ?? term }
        self.results = results.map(SearchMemory.Result.init)
    }

    /// A response without the members that are not used here.
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
