internal import HTTPCore
internal import HTTPServer
internal import System

/// Responds to requests: finds the entity, counts the request, and applies its faults.
final class UpstreamApplication: Application {
    private struct State {
        /// The number of requests with faults so far, by target.
        var counts: [String: Int] = [:]
        /// Targets limited to one transfer that have one.
        var transferring: Set<String> = []
        /// The number of redirects to a node of the archive.
        var sentOn = 0
        var base = ""
        var port = 0
    }

    let log = RequestLog()
    private let configuration: DemoUpstream.Configuration
    private let state = Locked(State())

    init(configuration: DemoUpstream.Configuration) { self.configuration = configuration }

    /// Sets the address on which the server listens.
    func setBase(_ base: String, port: Int) {
        state.withLock { state in
            state.base = base
            state.port = port
        }
    }

    func refuse(_ refusal: Refusal, of request: borrowing Request, with response: inout Response) {
        response.setPage(refusal.detail)
    }

    func respond(to request: borrowing Request, with response: inout Response) -> Handling {
        response.fields.append(.accessControlAllowOrigin, "*")
        guard request.head.method == .get || request.head.method == .head else {
            response.fields.append(.allow, "GET, HEAD, OPTIONS")
            response.status = request.head.method == .options ? .noContent : .methodNotAllowed
            if request.head.method != .options { response.setPage("Everything here is read-only.") }
            return .ready
        }
        do throws(Target.Invalid) {
            let target = try Target(request.head.target)
            let faults = ActiveFaults(target.faults, request: count(target))
            try respond(to: request, target, faults, with: &response)
            guard let delay = faults[.slowHead] else { return .ready }
            let late = response
            return .later {
                // A client that disconnects cancels the task; the response is then discarded.
                try? await Task.sleep(for: .milliseconds(min(delay.number, 600_000)))
                return late
            }
        } catch {
            response.status = .badRequest
            response.setPage(error.message)
            return .ready
        }
    }

    private func respond(
        to request: borrowing Request, _ target: Target, _ faults: ActiveFaults, with response: inout Response
    ) throws(Target.Invalid) {
        let (base, port) = state.withLock { ($0.base, $0.port) }
        guard
            let entity = try Entity.find(target, version: faults.version, base: base, now: SystemTime.sinceEpoch / 1_000_000_000)
        else {
            response.status = .notFound
            response.setPage("There is nothing here.")
            return record(request, response, isReported: true)
        }
        if fail(target, faults, with: &response) { return record(request, response, isReported: entity.isLogged) }
        if entity.isOnNode {
            // Each redirect leads to another node, like those of the archive, with the query and the faults of the
            // target.
            let node = state.withLock { state in
                state.sentOn += 1
                return state.sentOn % 9 + 1
            }
            send(to: base + target.raw.replacing("/download/", with: "/node-\(node)/items/", maxReplacements: 1), with: &response)
            return record(request, response, isReported: entity.isLogged)
        }

        let made = EntityResponse(entity: entity, faults: faults, method: request.head.method, fields: request.head.fields)
        response.status = made.status
        response.fields.append(contentsOf: made.fields)
        guard let source = made.source else { return record(request, response, isReported: entity.isLogged) }
        let number = begin(request, response.status)
        let isExclusive = faults.has(.oneConnection)
        if isExclusive { state.withLock { _ = $0.transferring.insert(target.counted) } }
        let pace =
            switch entity.kind {
            case .large: configuration.pace
            case .medium: (configuration.pace + 1) / 2
            case .small: Int64(0)
            }
        let stream = EntityStream(
            source: source, hasLength: !made.hidesLength, pace: Pace(bytesPerSecond: target.pace ?? pace), cut: faults.cut,
            delivery: Delivery(server: SocketAddress(host: "127.0.0.1", port: port), client: request.peer),
            onSend: { [log] count in log.send(count, of: number) },
            onEnd: { [self] in
                if isExclusive { state.withLock { _ = $0.transferring.remove(target.counted) } }
                end(number, isReported: entity.isLogged)
            })
        response.content = .stream(stream, length: made.hidesLength ? nil : source.length)
    }

    /// Makes the response of a fault that replaces the entity; returns whether there is one.
    private func fail(_ target: Target, _ faults: ActiveFaults, with response: inout Response) -> Bool {
        if let location = redirect(target, faults) {
            send(to: location, with: &response)
        } else if let fault = faults[.status] {
            fail(Int(fault.number), faults, with: &response)
        } else if faults.has(.oneConnection), state.withLock({ $0.transferring.contains(target.counted) }) {
            fail(503, faults, with: &response)
        } else if faults.has(.html) {
            response.setPage("Please sign in to use this network.")
        } else {
            return false
        }
        return true
    }

    private func send(to location: String, with response: inout Response) {
        response.status = .found
        response.fields.append(.location, location)
        response.fields.append(.cacheControl, "no-store")
        response.setPage("It is elsewhere.")
    }

    private func fail(_ status: Int, _ faults: ActiveFaults, with response: inout Response) {
        response.status = HTTPStatus(status)
        if let delay = faults[.retryAfter] { response.fields.append(.retryAfter, "\(delay.number)") }
        // The real search service throttles with an empty body.
        if status >= 400, status != 403, status != 429 { response.setPage("This failure was asked for.") }
    }

    private func redirect(_ target: Target, _ faults: ActiveFaults) -> String? {
        if let fault = faults[.redirects], fault.number > 0 {
            return target.raw.replacing("redirectx\(fault.number)", with: "redirectx\(fault.number - 1)")
        }
        return faults[.redirect]?.location ?? (faults.has(.redirectLoop) ? target.raw : nil)
    }

    /// Counts a request with faults, and returns its number for its target, from 1. The counts are cleared when there
    /// are too many.
    private func count(_ target: Target) -> Int {
        guard !target.faults.isEmpty else { return 1 }
        return state.withLock { state in
            if state.counts.count >= 10_000 { state.counts.removeAll() }
            let number = state.counts[target.counted, default: 0] + 1
            state.counts[target.counted] = number
            return number
        }
    }

    // MARK: - The log

    private func begin(_ request: borrowing Request, _ status: HTTPStatus) -> Int {
        log.append(
            LoggedRequest(
                method: request.head.method.name, target: String(decoding: Array(request.head.target.raw), as: UTF8.self),
                fields: request.head.fields, status: status.code))
    }

    private func end(_ number: Int, isReported: Bool) {
        if let request = log.finish(number), isReported { configuration.log?(request.description) }
    }

    /// Logs a response whose body is complete.
    private func record(_ request: borrowing Request, _ response: borrowing Response, isReported: Bool) {
        let number = begin(request, response.status)
        if request.head.method != .head { log.send(response.body.count, of: number) }
        end(number, isReported: isReported)
    }
}

extension Response {
    /// Sets the body to a line of text as a small HTML page.
    fileprivate mutating func setPage(_ text: String) {
        fields.set(.contentType, "text/html; charset=utf-8")
        body.append(contentsOf: Page.page("\(status.code)", "<p>\(Page.escaped(text))</p>").utf8)
    }
}
