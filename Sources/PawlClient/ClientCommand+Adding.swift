internal import CommandLine
internal import DownloadCore
internal import HTTPCore
internal import JSON
internal import System
internal import Terminal

/// `pawl add`.
extension ClientCommand {
    /// Adds downloads. Writes a line for each download, and one for all parts of a work. A refusal is reported, and the
    /// other downloads are still added.
    func add() async throws(RemoteError) -> ExitStatus {
        let operands: [DownloadOperand]
        do throws(UsageError) {
            operands = try URLList.operands(of: invocation)
        } catch {
            StandardStreams.writeError("\(error)\n")
            return .usage
        }
        let memory = SearchMemory.read(memoryPath)
        var requests: [AddRequest] = []
        for operand in operands {
            requests += try AddRequest.requests(operand, memory, choosesFormats: !invocation.client.formats.isEmpty)
        }
        guard requests.count == 1 || invocation.client.filename == nil && invocation.checksum == nil else {
            throw .usage("--output and --checksum are for one download, and \(requests.count) are given")
        }
        var works = requests.filter(\.isWork)
        requests.removeAll(where: \.isWork)
        var status = ExitStatus.done
        for (item, request) in zip(try await service.add(requests.map { Self.body($0, invocation) }), requests) {
            if let work = try await work(behind: request, item) {
                works.append(work)
                continue
            }
            if invocation.writesJSON { write(item) }
            if let problem = item["problem"] {
                Self.writeError("\(request.name): \(Self.reason(problem))")
                status = .failed
            } else if !invocation.writesJSON, let download = item["download"].flatMap(RemoteDownload.init) {
                let isNew = item["status"]?.integer == 201
                let state = download.status.state
                let word = isNew ? state == .paused ? "paused" : "added" : "is \(state.rawValue)"
                write([line(download.id, word, isNew ? .good : .waiting, TerminalText(request.name))])
            }
        }
        for work in works {
            do throws(RemoteError) {
                if try await addParts(of: work) == .failed { status = .failed }
            } catch {
                // Without a service, the other requests would fail as well.
                guard error.status == .failed else { throw error }
                Self.writeError("\(work.name): \(error.message)")
                status = .failed
            }
        }
        return status
    }

    /// The request for the parts of a work, if the service found that the item has no file of its own; `nil` otherwise.
    /// The lookup costs no request to the source, since the service has just made it.
    private func work(behind request: AddRequest, _ item: JSONValue) async throws(RemoteError) -> AddRequest? {
        guard case .item(let id) = request.source, item["problem"]?["code"]?.string.flatMap(ProblemCode.init) == .notFound,
            let found = try? await service.lookup(id)
        else { return nil }
        let result = SearchMemory.Result(found)
        return result.hasParts && !result.isDownloadable ? AddRequest(.work(id), name: result.name) : nil
    }

    /// Adds all parts of a work, or those in the given formats, and writes a summary.
    private func addParts(of work: AddRequest) async throws(RemoteError) -> ExitStatus {
        guard case .work(let id) = work.source else { return .done }
        guard invocation.client.filename == nil, invocation.client.folder == nil, invocation.checksum == nil else {
            throw .local(
                "--output, --folder and --checksum are for files, not for works: the catalogue names the parts, their folder and digests"
            )
        }
        let response = try await service.send("POST", "downloads/batch", body: Self.body(work, invocation))
        guard let items = response["items"]?.array else {
            throw .notPawl(server: service.name, reason: "its response to a batch has no items")
        }
        Self.warn(response, of: work.name)
        if invocation.writesJSON { for item in items { write(item) } }
        let refused = items.indices.filter { items[$0]["problem"] != nil }
        if !refused.isEmpty {
            // The response lacks the names of refused parts. The service still has the list in memory.
            let parts = (try? await service.parts(of: id, formats: invocation.client.formats))?["results"]?.array ?? []
            for index in refused {
                let name = parts.count == items.count ? parts[index]["name"]?.string.map { " '\($0)'" } : nil
                let reason = items[index]["problem"].map(Self.reason) ?? ""
                Self.writeError("part \(index + 1)\(name ?? "") of '\(work.name)': \(reason)")
            }
        }
        if !invocation.writesJSON {
            let added = items.count { $0["status"]?.integer == 201 }
            let counts = [
                (added, invocation.client.startsPaused ? "paused" : "added"),
                (items.count - added - refused.count, "there already"), (refused.count, "refused"),
            ]
            let summary = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
            var line = TerminalLine(TerminalText("\(work.name): "))
            line.append(TerminalText(summary), refused.isEmpty ? .good : .waiting)
            line.append(TerminalText("; its label is \(id)"), .dim)
            write([line])
        }
        return refused.isEmpty ? .done : .failed
    }

    /// The reason of a refusal, in the words of the command line.
    static func reason(_ problem: JSONValue) -> String {
        guard let detail = problem["detail"]?.string else { return "the service refuses it" }
        // A problem of a batch names the request: 'downloads[3].trackId'.
        let parts = detail.split(separator: "]", maxSplits: 1)
        return inWords(detail.hasPrefix("'downloads[") && parts.count == 2 ? "'\(Substring(parts[1].dropFirst()))" : detail)
    }

    /// The members of a request. Options that were not given are left to the service.
    static func body(_ request: AddRequest, _ invocation: Invocation) -> JSONValue {
        let options = invocation.client
        let source =
            switch request.source {
            case .url(let url): JSONMember(name: "url", value: .string(url))
            case .item(let id): JSONMember(name: "trackId", value: .string(id))
            case .work(let id): JSONMember(name: "partsOf", value: .string(id))
            }
        var members = [source]
        func add(_ name: String, _ value: JSONValue?) {
            if let value { members.append(JSONMember(name: name, value: value)) }
        }
        func add(_ name: String, _ texts: [String]) {
            add(name, texts.isEmpty ? nil : .array(texts.map { .string($0) }))
        }
        add("formats", options.formats)
        add("filename", options.filename.map { .string($0) })
        add("folder", options.folder.map { .string($0) })
        add("checksum", invocation.checksum.map { .string($0) })
        add("segments", options.segments.map { .integer(Int64($0)) })
        add("speedLimit", options.speedLimit > 0 ? .integer(options.speedLimit) : nil)
        add("remoteTime", options.remoteTime.map { .bool($0) })
        add("priority", options.priority.map { .integer(Int64($0)) })
        add("labels", options.labels + (request.work.map { [$0] } ?? []))
        let headers = invocation.headers.map { JSONMember(name: $0.name, value: .string($0.value)) }
        add("headers", headers.isEmpty ? nil : .object(headers))
        add("paused", options.startsPaused ? .bool(true) : nil)
        return .object(members)
    }
}
