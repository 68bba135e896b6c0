internal import HTTPCore
internal import HTTPServer
internal import System

/// Answers the requests: finds what is asked for, counts, and applies the faults that count asks for.
final class UpstreamApplication: Application {
    private struct State {
        var counters = RequestCounters()
        var base = ""
        var port = 0
    }

    let log: RequestLog
    private let configuration: DemoUpstream.Configuration
    private let transfers = Transfers()
    private let state = Locked(State())

    init(configuration: DemoUpstream.Configuration) {
        self.configuration = configuration
        log = RequestLog(capacity: configuration.loggedRequests)
    }

    /// Tells where the server listens.
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
        switch request.head.method {
        case .get, .head: break
        case .options:
            response.status = .noContent
            response.fields.append(.allow, "GET, HEAD, OPTIONS")
            return .ready
        default:
            response.status = .methodNotAllowed
            response.fields.append(.allow, "GET, HEAD, OPTIONS")
            response.setPage("Everything here is only read.")
            return .ready
        }
        do {
            return try answer(request, with: &response)
        } catch {
            response.status = .badRequest
            response.setPage(error.message)
            return .ready
        }
    }

    private func answer(_ request: borrowing Request, with response: inout Response) throws(Target.Invalid) -> Handling {
        let target = try Target(request.head.target)
        let now = WallClock.secondsSinceEpoch
        let base = state.withLock { $0.base }
        guard let first = try Entity.find(target, edition: Edition(version: 1, changesLength: false), base: base, now: now) else {
            response.status = .notFound
            response.setPage("There is nothing here.")
            record(request, response, entity: nil)
            return .ready
        }
        if redirect(target, with: &response) {
            record(request, response, entity: first)
            return .ready
        }
        let number = target.faults.isEmpty ? 1 : state.withLock { $0.counters.count("entity " + target.key) }
        let faults = ActiveFaults(target.faults, request: number)
        let edition = Edition(version: faults.version, changesLength: faults.changesLength)
        let entity = faults.version == 1 ? first : try Entity.find(target, edition: edition, base: base, now: now) ?? first

        var lease: TransferLease?
        if faults.has(.oneConnection) {
            lease = transfers.lease(target.key)
            if lease == nil {
                fail(503, faults, now: now, with: &response)
                record(request, response, entity: entity)
                return handling(response, faults)
            }
        }
        if let status = faults.failure {
            fail(status, faults, now: now, with: &response)
            record(request, response, entity: entity)
            return handling(response, faults)
        }
        if let status = faults.emptyStatus {
            response.status = HTTPStatus(status)
            record(request, response, entity: entity)
            return handling(response, faults)
        }
        if faults.has(.html) {
            response.setPage("Please sign in to use this network.")
            record(request, response, entity: entity)
            return handling(response, faults)
        }
        let answer = EntityAnswer(entity: entity, faults: faults, method: request.head.method, fields: request.head.fields)
        send(answer, to: request, pace: target.pace, lease: lease, with: &response)
        return handling(response, faults)
    }

    /// Answers with a redirect, if a fault asks for one, or with the refusal of a signature that was used before.
    private func redirect(_ target: Target, with response: inout Response) -> Bool {
        let number = target.faults.isEmpty ? 1 : state.withLock { $0.counters.count("target " + target.raw) }
        let faults = ActiveFaults(target.faults, request: number)
        if target.signature != nil {
            guard number > 1 else { return false }
            response.status = .forbidden
            response.setPage("This link has expired.")
            return true
        }
        let location: String
        if let hops = faults.redirectCount, target.hop ?? 0 < hops {
            location = target.adding("hop", "\((target.hop ?? 0) + 1)")
        } else if target.hop != nil {
            return false
        } else if let url = faults.redirectTarget {
            location = url
        } else if faults.has(.redirectLoop) {
            location = target.raw
        } else if faults.has(.expiredRedirect) {
            let signature = Mix.scramble(Mix.scramble(target.key) &+ UInt64(number))
            location = target.adding("signature", String(signature, radix: 36))
        } else {
            return false
        }
        response.status = .found
        response.fields.append(.location, location)
        response.fields.append(.cacheControl, "no-store")
        response.setPage("It is elsewhere.")
        return true
    }

    private func fail(_ status: Int, _ faults: ActiveFaults, now: Int64, with response: inout Response) {
        response.status = HTTPStatus(status)
        if let delay = faults.retryAfter {
            let value = delay.asDate ? HTTPDate(secondsSinceEpoch: now + delay.seconds).description : "\(delay.seconds)"
            response.fields.append(.retryAfter, value)
        }
        // The real search service throttles with an empty body.
        if status != 403 && status != 429 { response.setPage("This failure was asked for.") }
    }

    private func send(
        _ answer: EntityAnswer, to request: borrowing Request, pace: Int64?, lease: TransferLease?,
        with response: inout Response
    ) {
        response.status = answer.status
        response.fields.append(contentsOf: answer.fields)
        guard let source = answer.source else {
            record(request, response, entity: answer.entity)
            return
        }
        let exchange = begin(request, status: answer.status, entity: answer.entity)
        let rate = Pace(bytesPerSecond: pace ?? defaultPace(answer.entity.kind))
        let stream = EntityStream(
            source: source, hasLength: !answer.hidesLength, pace: rate, cut: answer.cut, exchange: exchange, lease: lease,
            delivery: Delivery(serverPort: state.withLock { $0.port }, clientPort: request.peer.port))
        response.content = .stream(stream, length: answer.hidesLength ? nil : source.length)
    }

    private func defaultPace(_ kind: Entity.Kind) -> Int64 {
        switch kind {
        case .large: configuration.pace
        case .preview: configuration.pace == 0 ? 0 : max(1, configuration.pace / 2)
        case .small: 0
        }
    }

    private func begin(_ request: borrowing Request, status: HTTPStatus, entity: Entity?) -> Exchange {
        let exchange = Exchange(
            method: request.head.method.name, target: String(decoding: Array(request.head.target.raw), as: UTF8.self),
            fields: request.head.fields, status: status.code, report: entity?.isLogged == false ? nil : configuration.log)
        log.append(exchange)
        return exchange
    }

    /// Logs an answer whose body is ready.
    private func record(_ request: borrowing Request, _ response: borrowing Response, entity: Entity?) {
        let exchange = begin(request, status: response.status, entity: entity)
        if request.head.method != .head { exchange.send(response.body.count) }
        exchange.finish()
    }

    /// The response as it is, or later.
    private func handling(_ response: Response, _ faults: ActiveFaults) -> Handling {
        guard let delay = faults.headDelay else { return .ready }
        return .later {
            // A client that leaves cancels this; then nobody sees what is returned.
            try? await Task.sleep(for: delay)
            return response
        }
    }
}

extension Response {
    /// A line of text as a small HTML page.
    fileprivate mutating func setPage(_ text: String) {
        fields.set(.contentType, "text/html; charset=utf-8")
        body.append(contentsOf: "<!doctype html><title>\(status.code)</title><p>\(Page.escaped(text))</p>\n".utf8)
    }
}
