import CCurl
import Glibc
import HTTPCore
import Synchronization
import System

/// Drives the transfers of one loop: carries out commands, calls libcurl, and checks time limits. Used on the loop's
/// thread only.
final class TransferDriver {
    let configuration: ClientConfiguration
    let credentials: CredentialStore
    let failedHosts: FailedHosts
    private let loop: TransferLoop
    private let multi: MultiHandle
    private let idleConnections: Int
    private var active: [ObjectIdentifier: ActiveTransfer] = [:] {
        // libcurl counts busy connections as well.
        didSet { multi.limit(connections: active.count + idleConnections) }
    }
    /// The transfers that wait for their speed limiters, and the earliest time at which one may continue.
    private var heldBack: [ObjectIdentifier: ActiveTransfer] = [:]
    private var nextResumption: ContinuousClock.Instant?
    /// The sockets of all connections, including idle ones.
    var connections = ConnectionSockets()
    /// The origins whose connections may be reused.
    var trust = OriginTrust()
    /// The transfers whose redirect or challenge arrived in this loop pass. They continue without waiting for the end of its body.
    private var redirected: [ActiveTransfer] = []
    /// The bytes of this loop pass that have not been passed to a sink.
    private var gathered: GatheredBody
    /// The transfers whose sinks stopped them, before libcurl has been informed.
    private var stopped: [ActiveTransfer] = []
    /// The transfers that wait for a descriptor, and the time of their next attempts.
    private var starved: [ActiveTransfer] = []
    private var nextAttempts = ContinuousClock.now
    /// The earliest time at which a limit may be exceeded.
    private var due: ContinuousClock.Instant?
    /// The number of transfers without a connection, and the time at which libcurl does their work without an event.
    private var connecting = 0
    private var nextPass = ContinuousClock.now

    /// The maximum wait without limits. All relevant events wake the thread.
    private static let idleMilliseconds = 60_000
    /// The time between two passes over all transfers while one of them connects: the longest wait for a host's next
    /// address.
    private static let passInterval: Duration = .milliseconds(100)
    /// The longest wait of a transfer for a descriptor, the time between two attempts, and the number of attempts at a time.
    private static let starvation: (limit: Duration, interval: Duration, attempts: Int) = (.seconds(30), .milliseconds(100), 8)

    init(loop: TransferLoop, multi: MultiHandle) {
        self.loop = loop
        self.multi = multi
        configuration = loop.configuration
        idleConnections = configuration.idleConnectionsPerThread ?? max(1, min(32, ProcessEnvironment.descriptorLimit / 32))
        credentials = loop.credentials
        failedHosts = loop.failedHosts
        gathered = GatheredBody(capacity: loop.configuration.receiveBufferBytes)
    }

    /// Runs until the loop is stopped. All transfers have finished when this returns.
    func run() {
        while true {
            let (commands, isStopping) = loop.takeCommands()
            for command in commands { perform(command) }
            if isStopping { break }
            let isWell = multi.perform() && performDuePass()
            // Sinks must receive their bytes before an end.
            handOver()
            if !isWell { failAll(.connectionFailed("libcurl failed")) }
            while let (transfer, code) = multi.nextDone() { completed(transfer, code) }
            resumeDueTransfers()
            endStopped()
            followRedirects()
            feedStarved()
            checkLimits()
            // An error of poll must not make the loop spin.
            if !multi.poll(milliseconds: waitMilliseconds) { _ = poll(nil, 0, 100) }
        }
        failAll(.cancelled)
    }

    /// Records a time at which a limit of a transfer may be exceeded.
    func noteDue(_ instant: ContinuousClock.Instant?) {
        guard let instant else { return }
        due = due.map { min($0, instant) } ?? instant
    }

    /// Does the work of all transfers at intervals while one of them connects.
    private func performDuePass() -> Bool {
        guard connecting > 0, .now >= nextPass else { return true }
        nextPass = .now + Self.passInterval
        return multi.performAll()
    }

    /// Notes that a transfer has a connection, or needs none.
    func noteConnected(_ running: ActiveTransfer) {
        guard running.isConnecting else { return }
        running.isConnecting = false
        connecting -= 1
    }

    private func perform(_ command: TransferLoop.Command) {
        switch command {
        case .start(let transfer, let sink):
            start(transfer, sink)
        case .cancel(let transfer):
            if let running = active[ObjectIdentifier(transfer)] { finish(running, .failure(.cancelled)) }
        case .limitsChanged:
            // Each gate reserves again, in the size for the new limit.
            nextResumption = heldBack.isEmpty ? nil : .now
        }
    }

    // MARK: - Bodies

    /// Gathers bytes of a body, and first passes earlier ones to their sink if there is no room. Called by libcurl's
    /// callbacks.
    /// - Returns: Whether the transfer continues.
    func gather(_ bytes: RawSpan, of running: ActiveTransfer) -> Bool {
        if !gathered.hasRoom(for: bytes.byteCount, of: running) { handOver() }
        guard running.failure == nil else { return false }
        // Nothing follows the last bytes, so they need no buffer.
        if gathered.owner == nil, running.hasWholeBody { return running.handOver(bytes) }
        gathered.append(bytes, of: running)
        return true
    }

    /// Passes gathered bytes to their sink.
    private func handOver() {
        guard let owner = gathered.owner else { return }
        if !gathered.handOver() { stopped.append(owner) }
        gathered.removeAll()
    }

    /// Ends the transfers whose sinks stopped them, unless libcurl has done so.
    private func endStopped() {
        for running in stopped where active[ObjectIdentifier(running.transfer)] === running {
            finish(running, running.outcome(CURLE_WRITE_ERROR))
        }
        stopped.removeAll()
    }

    // MARK: - Speed limits

    /// Makes a transfer wait for its speed limiters. Called by libcurl's callbacks.
    func holdBack(_ running: ActiveTransfer) {
        heldBack[ObjectIdentifier(running.transfer)] = running
        running.transfer.isHeldBack = true
        running.timer.heldBack()
        scheduleResumption(running, now: .now)
    }

    private func scheduleResumption(_ running: ActiveTransfer, now: ContinuousClock.Instant) {
        let due = running.gate.due(now: now) ?? now
        nextResumption = nextResumption.map { min($0, due) } ?? due
    }

    /// Continues the transfers whose limiters allow it.
    private func resumeDueTransfers() {
        guard let nextResumption else { return }
        let now = ContinuousClock.now
        guard now >= nextResumption else { return }
        self.nextResumption = nil
        for running in Array(heldBack.values) {
            if running.gate.due(now: now) == nil { resume(running) } else { scheduleResumption(running, now: now) }
        }
    }

    private func resume(_ running: ActiveTransfer) {
        noLongerHeldBack(running)
        running.timer.resumed(bytes: running.bodyBytes, now: .now)
        noteDue(running.timer.due)
        // This may call `holdBack` again.
        let code = running.easy.resume()
        handOver()
        if code != CURLE_OK { completed(running, code) }
    }

    private func noLongerHeldBack(_ running: ActiveTransfer) {
        heldBack[ObjectIdentifier(running.transfer)] = nil
        running.transfer.isHeldBack = false
    }

    // MARK: - Transfers

    private func start(_ transfer: Transfer, _ sink: any TransferSink) {
        if transfer.isCancelled { return report(to: sink, .failure(.cancelled)) }
        if let problem = transfer.request.problem() { return report(to: sink, .failure(problem)) }
        guard let easy = multi.makeEasyHandle() else {
            return report(to: sink, .failure(MultiHandle.outOfMemory))
        }
        let running = ActiveTransfer(transfer, sink: sink, easy: easy, driver: self, now: .now)
        active[ObjectIdentifier(transfer)] = running
        running.gate.open(for: loop)
        beginHop(running)
    }

    /// Passes a transfer's current hop to libcurl, unless its destination is forbidden.
    private func beginHop(_ running: ActiveTransfer) {
        let url = running.hop.url
        let verdict = running.transfer.request.guarding?.evaluate(
            host: url.host, port: url.port, isResolvedElsewhere: configuration.proxy(for: url) != nil)
        if case .forbidden(let reason) = verdict {
            return finish(running, .failure(.destinationForbidden(reason, status: running.hop.redirectStatus)))
        }
        if let error = running.configure(configuration) {
            return finish(running, .failure(running.transfer.isCancelled ? .cancelled : error))
        }
        guard multi.add(running.easy) else {
            return finish(running, .failure(.connectionFailed("libcurl refused the transfer")))
        }
        running.isWithLibrary = true
        running.isConnecting = true
        if connecting == 0 { nextPass = .now + Self.passInterval }
        connecting += 1
        noteDue(running.timer.due)
    }

    /// Chooses the connection of a request that begins.
    func connection(to origin: String) -> OriginTrust.Connection {
        trust.connection(to: origin, now: .now) { [connections] ends in
            connections.socket(ends).map { pawl_socket_is_quiet($0) != 0 } ?? false
        }
    }

    private func completed(_ running: ActiveTransfer, _ code: pawl_curl_code) {
        if code == CURLE_OK, let connection = running.connection { trust.ended(running.origin, on: connection, now: .now) }
        guard !running.transfer.isCancelled else { return finish(running, running.outcome(code)) }
        if running.lacksDescriptor, code == CURLE_COULDNT_CONNECT, starve(running) { return }
        if running.needsNewConnection { return begin(running.hop, of: running, onNewConnection: true) }
        if running.maySpeakOnlyHTTP2(code) {
            return begin(running.hop, of: running, onNewConnection: true, offeringHTTP2: true)
        }
        // The target of a redirect is known even if its own body was incomplete.
        if let next = running.next, running.failure == nil { return begin(next, of: running) }
        finish(running, running.outcome(code))
    }

    /// Makes a transfer wait for a descriptor: that the process has none is no fault of the host.
    /// - Returns: False if it has waited long enough.
    private func starve(_ running: ActiveTransfer) -> Bool {
        let now = ContinuousClock.now
        let end = running.waitEnd ?? now + Self.starvation.limit
        running.waitEnd = end
        guard now < end else { return false }
        release(running)
        if starved.isEmpty { nextAttempts = now + Self.starvation.interval }
        starved.append(running)
        return true
    }

    /// Begins some hops again that had no descriptor.
    private func feedStarved() {
        guard !starved.isEmpty, .now >= nextAttempts else { return }
        nextAttempts = .now + Self.starvation.interval
        let some = starved.prefix(Self.starvation.attempts)
        starved.removeFirst(some.count)
        for running in some where active[ObjectIdentifier(running.transfer)] === running {
            begin(
                running.hop, of: running, onNewConnection: running.isOnNewConnection, offeringHTTP2: running.offersHTTP2)
        }
    }

    /// Begins a hop after another one.
    private func begin(
        _ hop: Hop, of running: ActiveTransfer, onNewConnection: Bool = false, offeringHTTP2: Bool = false
    ) {
        release(running)
        guard let easy = multi.makeEasyHandle() else {
            return finish(running, .failure(MultiHandle.outOfMemory))
        }
        running.begin(hop, with: easy, onNewConnection: onNewConnection, offeringHTTP2: offeringHTTP2, now: .now)
        beginHop(running)
    }

    /// Records a transfer that received a redirect or a challenge. Called by libcurl's callbacks.
    func redirects(_ running: ActiveTransfer) { redirected.append(running) }

    /// Begins the next hop of transfers whose redirect's body has not ended, since it may be endless.
    private func followRedirects() {
        guard !redirected.isEmpty else { return }
        let waiting = redirected
        redirected.removeAll()
        for running in waiting where running.next != nil && active[ObjectIdentifier(running.transfer)] === running {
            completed(running, CURLE_PARTIAL_FILE)
        }
    }

    private func checkLimits() {
        guard let due else { return }
        let now = ContinuousClock.now
        guard now >= due else { return }
        self.due = nil
        // A copy of the values, since finishing changes `active`.
        for running in Array(active.values) {
            if let error = running.exceeded(now: now) {
                finish(running, .failure(running.transfer.isCancelled ? .cancelled : error))
            } else {
                noteDue(running.due)
            }
        }
    }

    private var waitMilliseconds: Int {
        let pass = connecting > 0 ? nextPass : nil
        let attempts = starved.isEmpty ? nil : nextAttempts
        guard let due = [due, nextResumption, pass, attempts].compactMap(\.self).min() else { return Self.idleMilliseconds }
        // Rounded up, to avoid spinning for the last fraction of a millisecond.
        return min(Self.idleMilliseconds, (due - .now).wholeMilliseconds + 1)
    }

    /// Removes the transfer's handle from libcurl. During a response this closes its connection.
    private func release(_ running: ActiveTransfer) {
        guard running.isWithLibrary else { return }
        running.isWithLibrary = false
        noteConnected(running)
        multi.remove(running.easy)
    }

    private func finish(_ running: ActiveTransfer, _ outcome: Result<TransferSummary, ClientError>) {
        release(running)
        switch outcome {
        case .success, .failure(.cancelled), .failure(.stopped): break
        case .failure: failedHosts.insert(running.hop.url.host, now: .now)
        }
        active[ObjectIdentifier(running.transfer)] = nil
        noLongerHeldBack(running)
        running.gate.close(now: .now)
        report(to: running.sink, outcome)
    }

    private func report(to sink: any TransferSink, _ outcome: Result<TransferSummary, ClientError>) {
        loop.load.subtract(1, ordering: .relaxed)
        sink.finished(outcome)
    }

    private func failAll(_ error: ClientError) {
        for running in Array(active.values) { finish(running, .failure(error)) }
    }
}
