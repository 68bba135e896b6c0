import Foundation
import HTTPClient
import HTTPCore
import TestSupport

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadFiles
@testable import DownloadStore
@testable import DownloadTransfer
@testable import Downloads

/// Returns the Range field of a request that continues a file's first `count` bytes, with their overlap.
func range(continuing count: some BinaryInteger) -> String { "bytes=\(max(0, Int64(count) - ResumeDecision.overlap))-" }

/// Runs attempts at one download on real connections and files, with the service's work between them.
final class AttemptFixture {
    let temporary: TemporaryDirectory
    let partFiles: PartFiles
    /// The path of the part file.
    var part: String {
        let directory = temporary.path + "/incomplete"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return directory + "/" + (names.first { PartName($0)?.generation == partGeneration } ?? "none")
    }
    /// The generation of the part file accepted last.
    private(set) var partGeneration: UInt64?
    let id: RecordID
    let client: HTTPClient
    /// The reports of the attempts, in order.
    private(set) var reports: [TransferReport.Event] = []
    /// The number of attempts.
    private(set) var attempts = 0
    private var resume = ResumeDecision()
    private var entity: SavedEntity?
    /// An earlier response's statements about the file.
    private var mediaType: String?
    private var written = Coverage()

    /// - Parameters:
    /// - entity: the entity of the present bytes.
    ///   - bytes: the part file, if there is one.
    /// - gap: missing bytes in it.
    /// - mediaType: an earlier response's media type.
    init(entity: SavedEntity? = nil, mediaType: String? = nil, bytes: [UInt8]? = nil, gap: Range<Int64>? = nil) throws {
        temporary = try TemporaryDirectory()
        partFiles = PartFiles(try DataDirectory(path: temporary.path))
        var generator = RecordIDGenerator()
        var random = SystemRandom()
        id = generator.next(now: .now(), using: &random)
        // With one thread, the end of a connection is handled before another one receives what the origin sends after it.
        var configuration = ClientConfiguration()
        configuration.threads = 1
        client = try HTTPClient(configuration: configuration)
        self.entity = entity
        self.mediaType = mediaType
        guard let bytes else { return }
        partGeneration = 1
        try Data(bytes).write(to: URL(filePath: "\(temporary.path)/incomplete/\(PartName(id, 1).text)"))
        let length = Int64(bytes.count)
        written.insert(0..<(gap?.lowerBound ?? length))
        if let gap { written.insert(gap.upperBound..<length) }
    }

    /// The part file's bytes.
    func bytes() throws -> Data { try Data(contentsOf: URL(filePath: part)) }

    /// Runs an attempt and its immediate successors, and returns the last one's end.
    func run(
        _ urls: [String], part: PartFile? = nil, checksum: Checksum? = nil, connections: Int = 4, isLastAttempt: Bool = false,
        isVouchedFor: Bool = true, isReport: @escaping @Sendable (TransferReport.Event) -> Void = { _ in }
    ) async throws -> TransferEnding {
        let beginning = resume.begin(
            entity: entity, offset: written.prefix, hasLaterBytes: written.end > written.prefix, isVouchedFor: isVouchedFor)
        guard case .ask(var ask) = beginning else { throw Unexpected(what: "\(beginning)") }
        let sources = try urls.map { text in
            var request = ClientRequest(url: try url(text))
            // The test decides the origin's waits, and may have to wait for a processor.
            request.headTimeout = .seconds(240)
            request.lowSpeedLimit = (bytesPerSecond: 1, over: .seconds(240))
            return request
        }
        while true {
            if ask.discards != nil { written = Coverage() }
            let (stream, reporter) = AsyncStream.makeStream(of: TransferReport.self)
            attempts += 1
            let parameters = TransferAttempt.Parameters(
                id: id, operation: UInt64(attempts), partFiles: partFiles, hasRecordedBytes: written.byteCount > 0,
                requestedMediaType: nil, expectation: ContentExpectation(mediaType: mediaType), checksum: checksum,
                reservations: DiskReservations(), connections: connections,
                sources: sources, url: urls[0],
                part: try part ?? (written.byteCount > 0 ? partFiles.openPart(id, partGeneration, holding: written.end) : nil),
                isLastAttempt: isLastAttempt)
            let attempt = TransferAttempt(
                parameters, client: client, resume: resume, written: written, hasher: StreamingHasher()
            ) {
                reporter.yield($0)
            }
            attempt.start(ask)
            var ended: TransferEnding?
            for await report in stream {
                reports.append(report.event)
                isReport(report.event)
                if case .accepted(let accepted) = report.event {
                    entity = accepted.body.entity
                    mediaType = accepted.mediaType ?? mediaType
                    partGeneration = accepted.partGeneration
                    if accepted.isReplacement { _ = try partFiles.removeOtherParts(id, than: partGeneration) }
                }
                if case .ended(let ending, _) = report.event {
                    ended = ending
                    reporter.finish()
                }
            }
            guard let ended else { throw Unexpected(what: "no end") }
            (resume, written) = (ended.resume, ended.written)
            guard case .askAgain(let next) = ended.outcome else { return ended }
            ask = next
        }
    }

    private func url(_ text: String) throws -> HTTPURL {
        guard let url = HTTPURL(text) else { throw Unexpected(what: text) }
        return url
    }

    struct Unexpected: Error {
        let what: String
    }
}

extension TransferEnding {
    /// Whether all bytes are present.
    var isWhole: Bool { if case .whole = outcome { true } else { false } }

    /// The reason of the failure, if it failed.
    var failure: DownloadFailure? { if case .failed(let failure, _) = outcome { failure } else { nil } }

    /// The origin's Retry-After, if the attempt failed.
    var retryAfter: Duration? { if case .failed(_, let delay) = outcome { delay } else { nil } }
}
