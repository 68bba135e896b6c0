internal import CommandLine
internal import HTTPCore

/// Something to add: one download, or all parts of a work.
struct AddRequest: Sendable, Equatable {
    /// What is to be downloaded.
    enum Source: Sendable, Equatable {
        case url(String)
        /// An item by its identifier.
        case item(String)
        /// All parts of a work, by its identifier.
        case work(String)
    }

    let source: Source
    /// What it is called here.
    let name: String
    /// The work that it was listed as a part of: its label, as of all that are ordered together.
    let work: String?

    init(_ source: Source, name: String, of work: String? = nil) {
        self.source = source
        self.name = name
        self.work = work
    }

    /// Whether it is for all parts of a work.
    var isWork: Bool { if case .work = source { true } else { false } }

    /// What a result means: its own file, or its parts if it has none or formats are chosen.
    /// - Parameter work: the work whose part it is listed as.
    /// - Throws: one line that says why it means nothing.
    init(_ result: SearchMemory.Result, of work: String? = nil, choosesFormats: Bool) throws(RemoteError) {
        name = result.name
        self.work = work
        if result.hasParts, choosesFormats || !result.isDownloadable {
            source = .work(result.id)
        } else if choosesFormats {
            throw .usage("--format chooses among the parts of a work, and '\(name)' has none")
        } else if result.isDownloadable {
            source = .item(result.id)
        } else {
            throw .usage("'\(name)' has nothing to download")
        }
    }

    /// What an operand means. Of an identifier that was not listed last, the service knows: it is taken for a work's if formats are
    /// chosen, and for that of something to download otherwise.
    /// - Throws: one line that says why it means nothing.
    static func requests(
        _ operand: DownloadOperand, _ memory: SearchMemory, choosesFormats: Bool
    ) throws(RemoteError) -> [AddRequest] {
        switch operand {
        case .url(let url):
            // A password is sent, and not shown.
            let name = url.hasUserInfo ? "\(url.scheme)://\(url.authority)\(url.path)" : url.string
            guard !choosesFormats else { throw .usage("--format chooses among the parts of a work, and '\(name)' is a URL") }
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
