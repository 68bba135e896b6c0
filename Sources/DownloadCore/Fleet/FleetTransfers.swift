internal import System

/// The counters of all transfers of a fleet, as known to one replica. The counters of other replicas are up to a second old.
package final class FleetTransfers: Sendable {
    private struct State {
        var own: [RecordID: TransferCounters] = [:]
        var sent: [RecordID: Sample] = [:]
        var others: [RecordID: Other] = [:]
    }

    /// A transfer of another replica.
    private struct Other {
        let counters: TransferCounters
        /// The seconds since the last message about the transfer.
        var silence = 0
    }

    /// The number of seconds after which a moving transfer without messages counts as stalled. Its replica sends one
    /// every second.
    private static let maximumSilence = 3

    /// The published values of a transfer.
    private struct Sample: Equatable {
        var received: Int64
        var speed: Int64
        var isStalled: Bool
        var connections: Int
    }

    private let state = Locked(State())

    /// Creates the counters of a fleet without transfers.
    package init() {}

    /// Sets the counters of a transfer of this replica; `nil` when it has ended.
    package func set(_ counters: TransferCounters?, of id: RecordID) {
        state.withLock { state in
            state.own[id] = counters
            if counters == nil { state.sent[id] = nil }
        }
    }

    /// Returns the counters of a download; `nil` if it is not in transfer.
    package func counters(of download: Download) -> TransferCounters? {
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

    /// Removes the counters of a removed download that another replica transferred.
    package func forget(_ id: RecordID) {
        state.withLock { _ = $0.others.removeValue(forKey: id) }
    }

    /// The maximum size of a message in bytes. PostgreSQL accepts less than 8,000 bytes.
    private static let messageSize = 7_500

    /// Returns messages about the transfers of this replica that have changed since the last call.
    package func messages() -> [String] {
        state.withLock { state in
            var messages: [String] = []
            var message = ""
            for (id, counters) in state.own {
                let sample = Sample(
                    received: counters.received, speed: counters.bytesPerSecond, isStalled: counters.isStalled,
                    connections: counters.connections)
                if state.sent[id] == sample { continue }
                state.sent[id] = sample
                message += "\(id) \(sample.received) \(sample.speed) \(sample.isStalled ? 1 : 0) \(sample.connections)\n"
                if message.utf8.count > Self.messageSize - 128 {
                    messages.append(message)
                    message = ""
                }
            }
            return message.isEmpty ? messages : messages + [message]
        }
    }

    /// Applies a message of another replica.
    package func receive(_ message: String) {
        state.withLock { state in
            for line in message.split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard fields.count >= 5, let id = RecordID(String(fields[0])), let counters = state.others[id]?.counters,
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

    /// Advances the time by one second, and marks transfers without recent messages as stalled.
    package func tick() {
        state.withLock { state in
            for (id, other) in state.others where other.counters.bytesPerSecond > 0 {
                state.others[id]?.silence += 1
                guard other.silence + 1 > Self.maximumSilence else { continue }
                other.counters.bytesPerSecond = 0
                other.counters.isStalled = true
            }
        }
    }
}
