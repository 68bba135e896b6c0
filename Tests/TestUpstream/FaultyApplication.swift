import DemoUpstream
import HTTPCore
import HTTPServer
import System

/// Responds as the demo's application does, with the faults that a request asks for, and keeps a log of the requests.
final class FaultyApplication: Application {
    private struct State {
        /// The number of requests with faults so far, by target.
        var counts: [String: Int] = [:]
        /// Targets limited to one transfer that have one.
        var transferring: Set<String> = []
        var port = 0
    }

    let log = RequestLog()
    private let demo = UpstreamApplication(pace: 0)
    private let state = Locked(State())
    private static let boundary = "pawl-5f3b1c9e2d7a"

    /// Sets the address on which the server listens.
    func setBase(_ base: String, port: Int) {
        demo.setBase(base)
        state.withLock { $0.port = port }
    }

    func refuse(_ refusal: Refusal, of request: borrowing Request, with response: inout Response) {
        demo.refuse(refusal, of: request, with: &response)
    }

    func respond(to request: borrowing Request, with response: inout Response) -> Handling {
        guard request.head.method == .get || request.head.method == .head else {
            return demo.respond(to: request, with: &response)
        }
        do throws(FaultyTarget.Invalid) {
            let target = try FaultyTarget(request.head.target)
            let faults = ActiveFaults(target.faults, request: count(target))
            respond(to: request, target, faults, with: &response)
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
        to request: borrowing Request, _ target: FaultyTarget, _ faults: ActiveFaults, with response: inout Response
    ) {
        if var entity = demo.find(target.target) {
            if !fail(target, faults, with: &response) {
                target.change(&entity, version: faults.version)
                send(entity, target, faults, to: request, with: &response)
            }
        } else {
            response.status = .notFound
            response.setPage("There is nothing here.")
        }
        let number = log.append(
            LoggedRequest(
                method: request.head.method.name, target: target.target.raw, fields: request.head.fields,
                status: response.status.code))
        guard case .stream(let stream, let length) = response.content else {
            if request.head.method != .head { log.send(response.body.count, of: number) }
            return log.finish(number)
        }
        let isExclusive = faults.has(.oneConnection)
        if isExclusive { state.withLock { _ = $0.transferring.insert(target.counted) } }
        let server = SocketAddress(host: "127.0.0.1", port: state.withLock { $0.port })
        let faulty = FaultyStream(
            stream, hasLength: length != nil, cut: faults.cut, delivery: Delivery(server: server, client: request.peer),
            onSend: { [log] count in log.send(count, of: number) },
            onEnd: { [self] in
                if isExclusive { state.withLock { _ = $0.transferring.remove(target.counted) } }
                log.finish(number)
            })
        response.content = .stream(faulty, length: length)
    }

    /// Sends an entity with the faults of its fields and ranges: the entity and the request are changed before the demo
    /// responds, and the response is changed after it.
    private func send(
        _ entity: Entity, _ target: FaultyTarget, _ faults: ActiveFaults, to request: borrowing Request,
        with response: inout Response
    ) {
        var entity = entity
        var changed = copy request
        let length = entity.content.length
        if faults.has(.weakTag) { entity.etag = entity.etag.map { EntityTag(opaque: $0.opaque, isWeak: true) } }
        if faults.has(.noValidator) {
            entity.etag = nil
            entity.lastModified = nil
        }
        if faults.has(.gzip), let tag = entity.etag {
            // Another content coding is another representation (RFC 9110 §8.8.3.3).
            entity.etag = EntityTag(opaque: tag.opaque + "-gzip", isWeak: tag.isWeak)
        }
        let servesRanges = !faults.has(.ignoreRanges) && !faults.has(.gzip)
        if !servesRanges { changed.head.fields.remove(.range) }
        if faults.has(.ignoreIfRange) { changed.head.fields.remove(.ifRange) }
        let asked = changed.head.fields[.range]
        let refusals: [Fault.Kind] = [.unsatisfiable, .unsatisfiableComplete, .unsatisfiableBare]
        if asked != nil, refusals.contains(where: { faults.has($0) }) {
            changed.head.fields.remove(.ifRange)
            changed.head.fields.set(.range, "bytes=\(length)-")
        } else if asked == nil, faults.has(.unaskedPartial), length > 1 {
            changed.head.fields.set(.range, "bytes=0-\(length / 2 - 1)")
        }

        demo.send(entity, of: target.target, to: changed, with: &response)

        if !servesRanges { response.fields.remove(.acceptRanges) }
        if faults.has(.gzip), response.status == .ok { response.fields.append(.contentEncoding, "gzip") }
        if target.target.value("type") == "none" { response.fields.remove(.contentType) }
        if response.status == .rangeNotSatisfiable, let asked {
            if faults.has(.unsatisfiableBare) { response.fields.remove(.contentRange) }
            if faults.has(.unsatisfiableComplete) {
                let start = asked.drop { $0 != "=" }.dropFirst().prefix { $0 != "-" }
                response.fields.set(.contentRange, "bytes */\(Int64(start) ?? length)")
            }
        }
        if let said = response.fields[.contentRange].flatMap({ ContentRange(parsing: $0) }), let start = said.start,
            let end = said.end
        {
            let shift: Int64 = faults.has(.wrongRange) ? 1 : 0
            let range = "bytes \(start + shift)-\(end + shift)/\(faults.has(.wrongTotal) ? length + 1 : length)"
            response.fields.set(.contentRange, range)
            if faults.has(.multipart) {
                let type = response.fields[.contentType].map { "Content-Type: \($0)\r\n" } ?? ""
                var body = Array("\r\n--\(Self.boundary)\r\n\(type)Content-Range: \(range)\r\n\r\n".utf8)
                entity.content.append(start..<end + 1, to: &body)
                body += Array("\r\n--\(Self.boundary)--\r\n".utf8)
                response.fields.set(.contentType, "multipart/byteranges; boundary=\(Self.boundary)")
                response.fields.remove(.contentRange)
                let pace = Pace(bytesPerSecond: target.target.pace ?? 0)
                let stream = EntityStream(HeldContent(bytes: body), 0..<Int64(body.count), pace: pace)
                response.content = .stream(stream, length: Int64(body.count))
            }
        }
        if faults.has(.chunked) || faults.has(.chunkedWithoutEnd), case .stream(let stream, _) = response.content {
            response.content = .stream(stream, length: nil)
        }
    }

    /// Makes the response of a fault that replaces the entity; returns whether there is one.
    private func fail(_ target: FaultyTarget, _ faults: ActiveFaults, with response: inout Response) -> Bool {
        if let location = redirect(target, faults) {
            response.status = .found
            response.fields.append(.location, location)
            response.fields.append(.cacheControl, "no-store")
            response.setPage("It is elsewhere.")
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

    private func fail(_ status: Int, _ faults: ActiveFaults, with response: inout Response) {
        response.status = HTTPStatus(status)
        if let delay = faults[.retryAfter] { response.fields.append(.retryAfter, "\(delay.number)") }
        // The real search service throttles with an empty body.
        if status >= 400, status != 403, status != 429 { response.setPage("This failure was asked for.") }
    }

    private func redirect(_ target: FaultyTarget, _ faults: ActiveFaults) -> String? {
        let raw = target.target.raw
        if let fault = faults[.redirects], fault.number > 0 {
            return raw.replacing("redirectx\(fault.number)", with: "redirectx\(fault.number - 1)")
        }
        return faults[.redirect]?.location ?? (faults.has(.redirectLoop) ? raw : nil)
    }

    /// Counts a request with faults, and returns its number for its target, from 1. The counts are cleared when there
    /// are too many.
    private func count(_ target: FaultyTarget) -> Int {
        guard !target.faults.isEmpty else { return 1 }
        return state.withLock { state in
            if state.counts.count >= 10_000 { state.counts.removeAll() }
            let number = state.counts[target.counted, default: 0] + 1
            state.counts[target.counted] = number
            return number
        }
    }
}

extension Response {
    /// Sets the body to a small HTML page.
    fileprivate mutating func setPage(_ text: String) {
        fields.set(.contentType, "text/html; charset=utf-8")
        body.append(contentsOf: "<!doctype html>\n<title>\(status.code)</title>\n<p>\(text)</p>\n".utf8)
    }
}
