import CCurl
import Glibc
import HTTPCore
import Synchronization

/// Drives the transfers of one loop: carries out commands, lets libcurl work, and watches time limits. Lives on the loop's thread.
final class TransferDriver {
    let configuration: ClientConfiguration
    private let loop: TransferLoop
    private let multi: MultiHandle
    private var active: [ObjectIdentifier: ActiveTransfer] = [:]
    /// Those that wait for their speed limiters, and when the first of them may go on.
    private var heldBack: [ObjectIdentifier: ActiveTransfer] = [:]
    private var nextTurn: ContinuousClock.Instant?
    /// The sockets of all connections, idle ones included.
    var connections = ConnectionTable()
    /// The origins whose connections may be used again.
    var trust = OriginTrust()
    /// The transfers whose redirect came in this round: they go on without waiting for the end of its body.
    private var redirected: [ActiveTransfer] = []
    /// What libcurl has handed over in this round and no sink has been given.
    private var gathered: GatheredBody
    /// Those whose sinks wanted no more, which libcurl does not know yet.
    private var stopped: [ActiveTransfer] = []
    /// The earliest time at which a limit may be exceeded.
    private var due: ContinuousClock.Instant?

    /// How long to wait when nothing is limited: everything that matters wakes the thread.
    private static let idleMilliseconds = 60_000

    init(loop: TransferLoop, multi: MultiHandle) {
        self.loop = loop
        self.multi = multi
        configuration = loop.configuration
        gathered = GatheredBody(capacity: loop.configuration.receiveBufferBytes)
    }

    /// Runs until the loop is stopped. Then every transfer has finished.
    func run() {
        while true {
            let (commands, isStopping) = loop.takeCommands()
            for command in commands { perform(command) }
            if isStopping { break }
            let isWell = multi.perform()
            // Before anything is said of an end.
            handOver()
            if !isWell { failAll(.connectionFailed("libcurl could not go on")) }
            while let (transfer, code) = multi.nextDone() { completed(transfer, code) }
            giveTurns()
            endStopped()
            followRedirects()
            checkLimits()
            // An error here must not make the loop spin.
            if !multi.poll(milliseconds: waitMilliseconds) { _ = poll(nil, 0, 100) }
        }
        failAll(.cancelled)
    }

    /// A limit of some transfer may be exceeded at this time.
    func noteDue(_ instant: ContinuousClock.Instant?) {
        guard let instant else { return }
        due = due.map { min($0, instant) } ?? instant
    }

    private func perform(_ command: TransferLoop.Command) {
        switch command {
        case .start(let transfer, let sink):
            start(transfer, sink)
        case .cancel(let transfer):
            if let running = active[ObjectIdentifier(transfer)] { finish(running, .failure(.cancelled)) }
        case .limitsChanged:
            // Each gate reserves anew, in the size of the new limit.
            nextTurn = heldBack.isEmpty ? nil : .now
        }
    }

    // MARK: - Bodies

    /// Takes bytes of a body, and hands over earlier ones where there is no room. Called while libcurl hands its bytes over.
    /// - Returns: whether the transfer goes on.
    func gather(_ bytes: RawSpan, of running: ActiveTransfer) -> Bool {
        if !gathered.hasRoom(for: bytes.byteCount, of: running) { handOver() }
        guard running.failure == nil else { return false }
        gathered.append(bytes, of: running)
        return true
    }

    /// Gives gathered bytes to the sink that they are for.
    private func handOver() {
        guard let owner = gathered.owner else { return }
        if !gathered.handOver() { stopped.append(owner) }
        gathered.removeAll()
    }

    /// Ends those whose sinks want no more, unless libcurl has done so.
    private func endStopped() {
        for running in stopped where active[ObjectIdentifier(running.transfer)] === running {
            finish(running, running.outcome(CURLE_WRITE_ERROR))
        }
        stopped.removeAll()
    }

    // MARK: - Speed limits

    /// A transfer has to wait for its speed limiters. Called while libcurl hands its bytes over.
    func holdBack(_ running: ActiveTransfer) {
        heldBack[ObjectIdentifier(running.transfer)] = running
        running.transfer.isHeldBack = true
        running.timer.heldBack()
        noteTurn(running, now: .now)
    }

    private func noteTurn(_ running: ActiveTransfer, now: ContinuousClock.Instant) {
        let due = running.gate.due(now: now) ?? now
        nextTurn = nextTurn.map { min($0, due) } ?? due
    }

    /// Lets those go on whose turn it is.
    private func giveTurns() {
        guard let nextTurn else { return }
        let now = ContinuousClock.now
        guard now >= nextTurn else { return }
        self.nextTurn = nil
        for running in Array(heldBack.values) {
            if running.gate.due(now: now) == nil { goOn(running) } else { noteTurn(running, now: now) }
        }
    }

    private func goOn(_ running: ActiveTransfer) {
        noLongerHeldBack(running)
        running.timer.goesOn(bytes: running.bodyBytes, now: .now)
        noteDue(running.timer.due)
        // May well lead to `holdBack` again.
        let code = running.easy.goOn()
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
            return report(to: sink, .failure(.connectionFailed("libcurl has no memory")))
        }
        let running = ActiveTransfer(transfer, sink: sink, easy: easy, driver: self, now: .now)
        active[ObjectIdentifier(transfer)] = running
        running.gate.open(for: loop)
        beginHop(running)
    }

    /// Gives a transfer's current hop to libcurl, if its destination may be allowed.
    private func beginHop(_ running: ActiveTransfer) {
        let url = running.hop.url
        let verdict = running.transfer.request.guarding?.evaluate(
            host: url.host, port: url.port, isResolvedElsewhere: configuration.proxy(for: url) != nil)
        if case .forbidden(let reason) = verdict {
            return finish(running, .failure(.destinationForbidden(reason, status: running.hop.redirectStatus)))
        }
        if let error = running.configure(configuration) { return finish(running, .failure(error)) }
        guard multi.add(running.easy) else {
            return finish(running, .failure(.connectionFailed("libcurl did not take the transfer")))
        }
        running.isWithLibrary = true
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
        if running.needsNewConnection { return begin(running.hop, of: running, onNewConnection: true) }
        // A redirect's target is known even if its own body broke off.
        if let next = running.next, running.failure == nil { return begin(next, of: running) }
        finish(running, running.outcome(code))
    }

    /// Begins a hop after another one.
    private func begin(_ hop: Hop, of running: ActiveTransfer, onNewConnection: Bool = false) {
        release(running)
        guard let easy = multi.makeEasyHandle() else {
            return finish(running, .failure(.connectionFailed("libcurl has no memory")))
        }
        running.begin(hop, with: easy, onNewConnection: onNewConnection, now: .now)
        beginHop(running)
    }

    /// Notes a transfer whose redirect has come. Called while libcurl hands it over.
    func redirects(_ running: ActiveTransfer) { redirected.append(running) }

    /// Begins the next hop of those redirects whose body has not ended with what came at once: it may have no end.
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
        // Not `active.values` itself: finishing removes from it.
        for running in Array(active.values) {
            if let error = running.exceeded(now: now) {
                finish(running, .failure(running.transfer.isCancelled ? .cancelled : error))
            } else {
                noteDue(running.due)
            }
        }
    }

    private var waitMilliseconds: Int {
        guard let due = [due, nextTurn].compactMap(\.self).min() else { return Self.idleMilliseconds }
        // Rounded up, or the last fraction of a millisecond would be spun away.
        return min(Self.idleMilliseconds, (due - .now).wholeMilliseconds + 1)
    }

    /// Takes the transfer's handle from libcurl. In the middle of a response this closes its connection.
    private func release(_ running: ActiveTransfer) {
        guard running.isWithLibrary else { return }
        running.isWithLibrary = false
        multi.remove(running.easy)
    }

    private func finish(_ running: ActiveTransfer, _ outcome: Result<TransferSummary, ClientError>) {
        release(running)
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
