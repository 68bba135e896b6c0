internal import System

/// The counters of all transfers of a fleet, as one replica knows them: its own, and those of others as they were told a second ago.
final class FleetTransfers: Sendable {
    private struct State {
        var own: [DownloadID: TransferCounters] = [:]
        var told: [DownloadID: Sample] = [:]
        var others: [DownloadID: Other] = [:]
    }

    /// A transfer of another replica's.
    private struct Other {
        let counters: TransferCounters
        /// For how many seconds nothing has been told of it.
        var silence = 0
    }

    /// After so many seconds what was told of a transfer that moved does not hold any more: its replica tells of it every second.
    private static let mostSilence = 3

    /// What is told of a transfer.
    private struct Sample: Equatable {
        var received: Int64
        var speed: Int64
        var isStalled: Bool
        var connections: Int
    }

    private let state = Locked(State())

    /// A transfer of this replica's has begun to place bytes, or, without counters, has ended.
    func set(_ counters: TransferCounters?, of id: DownloadID) {
        state.withLock { state in
            state.own[id] = counters
            if counters == nil { state.told[id] = nil }
        }
    }

    /// The counters of a download that transfers.
    func counters(of download: Download) -> TransferCounters? {
        state.withLock { state in
            guard download.state == .downloading else {
                state.others[download.id] = nil
                return nil
            }
            if let own = state.own[download.id] { return own }
            let other = state.others[download.id] ?? Other(counters: TransferCounters(received: download.bytesReceived))
            other.counters.received = max(other.counters.received, download.bytesReceived)
            other.counters.connections = download.segments
            state.others[download.id] = other
            return other.counters
        }
    }

    /// A download has gone.
    func forget(_ id: DownloadID) {
        state.withLock { _ = $0.others.removeValue(forKey: id) }
    }

    /// Bytes of one message: PostgreSQL takes less than 8,000.
    private static let messageSize = 7_500

    /// What is to be told of this replica's own transfers: those that have moved on since the last time.
    func messages() -> [String] {
        state.withLock { state in
            var messages: [String] = []
            var message = ""
            for (id, counters) in state.own {
                let sample = Sample(
                    received: counters.received, speed: counters.bytesPerSecond, isStalled: counters.isStalled,
                    connections: counters.connections)
                if state.told[id] == sample { continue }
                state.told[id] = sample
                message += "\(id) \(sample.received) \(sample.speed) \(sample.isStalled ? 1 : 0) \(sample.connections)\n"
                if message.utf8.count > Self.messageSize - 128 {
                    messages.append(message)
                    message = ""
                }
            }
            return message.isEmpty ? messages : messages + [message]
        }
    }

    /// Takes what another replica tells.
    func receive(_ message: String) {
        state.withLock { state in
            for line in message.split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard fields.count >= 5, let id = DownloadID(String(fields[0])), let counters = state.others[id]?.counters,
                    let received = Int64(fields[1]), let speed = Int64(fields[2]), let connections = Int(fields[4])
                else { continue }
                counters.received = received
                counters.bytesPerSecond = speed
                counters.isStalled = fields[3] == "1"
                counters.connections = connections
                state.others[id]?.silence = 0
            }
        }
    }

    /// A second has passed: the transfers of a replica that tells nothing any more stand still, as far as is known.
    func tick() {
        state.withLock { state in
            for (id, other) in state.others where other.counters.bytesPerSecond > 0 {
                state.others[id]?.silence += 1
                guard other.silence + 1 > Self.mostSilence else { continue }
                other.counters.bytesPerSecond = 0
                other.counters.isStalled = true
            }
        }
    }
}
