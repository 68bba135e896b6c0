internal import CommandLine
internal import HTTPCore

/// A request to add one download, or all parts of a work.
struct AddRequest: Sendable, Equatable {
    /// The source of the downloads.
    enum Source: Sendable, Equatable {
        case url(String)
        /// An item by its id.
        case item(String)
        /// All parts of a work, by the work's id.
        case work(String)
    }

    let source: Source
    /// The name in messages.
    let name: String
    /// The work in whose list of parts it was chosen, which becomes its label; `nil` if there is none.
    let work: String?

    init(_ source: Source, name: String, of work: String? = nil) {
        self.source = source
        self.name = name
        self.work = work
    }

    /// Whether the request is for all parts of a work.
    var isWork: Bool { if case .work = source { true } else { false } }

    /// Creates the request for a result: its own file, or its parts if it has no file or formats are given.
    /// - Parameter work: The id of the work in whose list of parts it was chosen.
    /// - Throws: An error with one line of text if the result has nothing to add.
    init(_ result: SearchMemory.Result, of work: String? = nil, choosesFormats: Bool) throws(RemoteError) {
        name = result.name
        self.work = work
        if result.hasParts, choosesFormats || !result.isDownloadable {
            source = .work(result.id)
        } else if choosesFormats {
            throw .usage("--format selects parts of a work, and '\(name)' has no parts")
        } else if result.isDownloadable {
            source = .item(result.id)
        } else {
            throw .usage("'\(name)' has nothing to download")
        }
    }

    /// The requests for an operand. An id that was not listed last is taken for a work if formats are given, otherwise
    /// for a file; the service checks it.
    /// - Throws: An error with one line of text if the operand has nothing to add.
    static func requests(
        _ operand: DownloadOperand, _ memory: SearchMemory, choosesFormats: Bool
    ) throws(RemoteError) -> [AddRequest] {
        switch operand {
        case .url(let url):
            // The name appears in messages, so it omits the password.
            let name = url.hasUserInfo ? "\(url.scheme)://\(url.authority)\(url.path)" : url.string
            guard !choosesFormats else { throw .usage("--format selects parts of a work, and '\(name)' is a URL") }
            return [AddRequest(.url(url.string), name: name)]
        case .results(let numbers):
            var requests: [AddRequest] = []
            for result in try SearchMemory.results(numbers, of: memory.latest) {
                requests.append(try AddRequest(result, of: memory.parts?.term, choosesFormats: choosesFormats))
            }
            return requests
        case .item(let id):
            if let result = memory.result(id: id) { return [try AddRequest(result, choosesFormats: choosesFormats)] }
            return [AddRequest(choosesFormats ? .work(id) : .item(id), name: id)]
        }
    }
}
