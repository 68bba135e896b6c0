internal import DownloadCore
internal import HTTPCore
internal import System

/// The end of a request that others of its kind wait for. If it has waited for the store in vain, they fail with it: one
/// after another, they would wait without end. Its value is their error; `nil`: they go on.
typealias RequestEnd = Outcome<DownloadError?>

extension RequestEnd {
    /// Resumes the requests that wait. Nothing has been done for them.
    /// - Parameter failure: The error of this request; `nil`: it has succeeded.
    func resume(after failure: DownloadError?) {
        set(failure == .unconfirmed || failure == .overloaded ? .overloaded : nil)
    }
}

/// Pieces of work that requests do, with the ends of these requests.
struct SharedRequests<Piece: Hashable & Sendable>: Sendable {
    /// The ends by piece; `nil`: no request waits for it.
    private var ends: [Piece: RequestEnd?] = [:]

    /// Whether a request does a piece.
    func isUnderWay(_ piece: Piece) -> Bool { ends[piece] != nil }

    /// Returns the end of the request that does a piece, to wait for it; `nil`: none does it.
    mutating func end(of piece: Piece) -> RequestEnd? {
        guard let known = ends[piece] else { return nil }
        let end = known ?? RequestEnd()
        ends[piece] = .some(end)
        return end
    }

    mutating func begin(_ pieces: some Sequence<Piece>) { for piece in pieces { ends.updateValue(nil, forKey: piece) } }

    /// Ends the pieces of one request, and resumes the requests that wait for it.
    mutating func end(_ pieces: some Sequence<Piece>, after failure: DownloadError?) {
        for piece in pieces { ends.removeValue(forKey: piece)??.resume(after: failure) }
    }
}

/// The requests that are being carried out, as far as other requests depend on them: their keys, and the URLs, gids and
/// ranks of the downloads that they are making durable. Keeps the outcomes of requests with a key.
struct RequestLedger: Sendable {
    /// The ended downloads whose records are being read.
    var reads = SharedRequests<RecordID>()
    /// The completed downloads whose files are being compared with their records.
    var comparing: Set<RecordID> = []

    // MARK: - Keys

    /// The answer to a request that reserves its key.
    enum KeyState {
        /// The key is reserved: the request has to be carried out.
        case reserved
        /// The request has been carried out before, with this outcome.
        case known(IdempotencyRecord)
        /// A request with the key is being carried out.
        case isUnderWay(RequestEnd)
        /// The key belongs to another request.
        case mismatch
    }

    private struct Reservation: Sendable {
        let digest: [UInt8]
        let end = RequestEnd()
        /// Whether the request was answered before its commit has ended. The end of the commit releases the reservation then.
        var isUnsettled = false
    }

    private var reservations: [ExactText: Reservation] = [:]
    private var outcomes = IdempotencyStore()

    mutating func reserve(_ key: RequestKey, now: Timestamp) -> KeyState {
        let name = ExactText(key.name)
        if let reservation = reservations[name] {
            return reservation.digest == key.digest ? .isUnderWay(reservation.end) : .mismatch
        }
        switch outcomes.lookUp(key, now: now) {
        case .found(let record): return .known(record)
        case .mismatch: return .mismatch
        case .unknown:
            reservations[name] = Reservation(digest: key.digest)
            return .reserved
        }
    }

    /// Keeps a reservation beyond its request, until ``settle(_:after:)``: the outcome of the commit is unknown.
    mutating func keepReservation(of key: RequestKey) {
        reservations[ExactText(key.name)]?.isUnsettled = true
    }

    /// Releases a reservation after its commit has ended.
    mutating func settle(_ key: RequestKey, after failure: DownloadError?) {
        reservations.removeValue(forKey: ExactText(key.name))?.end.resume(after: failure)
    }

    /// Releases a reservation, unless its commit has not ended.
    mutating func release(_ key: RequestKey, after failure: DownloadError?) {
        guard let reservation = reservations[ExactText(key.name)], !reservation.isUnsettled else { return }
        settle(key, after: failure)
    }

    /// Keeps the outcomes of a request.
    /// - Returns: The keys of other requests whose outcomes were removed for it.
    mutating func remember(_ record: IdempotencyRecord, now: Timestamp) -> [String] {
        outcomes.remember(record, now: now)
    }

    /// Removes the outcomes of a request whose commit has failed.
    mutating func forget(_ key: RequestKey) { outcomes.forget(key.name) }

    // MARK: - New downloads

    /// URLs whose first download is being made durable. Another one may be a duplicate.
    var urls = SharedRequests<String>()
    /// Gids that clients have chosen for downloads that are being made durable.
    private(set) var gids: Set<DownloadGID> = []
    /// Downloads that are being made durable and will be in the queue then.
    private(set) var arriving = RankedDownloads()
    /// Arrivals that some of these downloads get once they are durable, to make room for others.
    private var lateArrivals: [RecordID: RecordID] = [:]

    /// Notes new downloads that are being made durable.
    /// - Returns: The URLs whose first download is one of these.
    mutating func begin(urls added: some Sequence<String>, gids: Set<DownloadGID>) -> [String] {
        let first = added.filter { !urls.isUnderWay($0) }
        urls.begin(first)
        self.gids.formUnion(gids)
        return first
    }

    /// Ends the work on new downloads, and resumes the requests that wait for their URLs.
    /// - Parameters:
    ///   - urls: The result of ``begin(urls:gids:)``.
    ///   - failure: The error of the commit; `nil`: the downloads are durable.
    mutating func end(urls: [String], gids: Set<DownloadGID>, after failure: DownloadError?) {
        self.gids.subtract(gids)
        self.urls.end(urls, after: failure)
    }

    /// Notes the rank of a download that enters the queue once it is durable.
    mutating func arrive(_ id: RecordID, _ rank: QueueRank) { arriving.insert(id, rank) }

    /// Gives another arrival to a download that is being made durable.
    /// - Returns: Whether the download is one of these.
    mutating func reassign(_ other: QueuePlacement.Other) -> Bool {
        guard arriving.remove(other.id, other.former) else { return false }
        arriving.insert(other.id, other.rank)
        lateArrivals[other.id] = other.arrival
        return true
    }

    /// Removes a download whose commit has ended.
    /// - Parameter rank: The rank of its record.
    /// - Returns: The arrival that it got during the commit; `nil`: none.
    mutating func leave(_ id: RecordID, _ rank: QueueRank) -> RecordID? {
        let lateArrival = lateArrivals.isEmpty ? nil : lateArrivals.removeValue(forKey: id)
        var rank = rank
        if let lateArrival { rank.arrival = lateArrival }
        arriving.remove(id, rank)
        return lateArrival
    }
}
