package import HTTPCore
package import System

/// The phases, events and actions of a download's machine.
extension DownloadMachine {
    /// The work that is under way for a download.
    package enum Phase: Sendable, Equatable {
        /// No work: the download is paused or has ended, or the service is stopping.
        case idle
        /// The download is in the queue.
        case waiting
        /// The download waits for its next attempt.
        case delayed(Operation)
        /// The download's bytes are discarded. The part files are removed once the store no longer counts on the bytes.
        /// `enqueues`: whether the download enters the queue then. `hasMadeRoom`: the part files are removed already,
        /// because a full disk refuses the commit otherwise.
        case clearing(Operation, enqueues: Bool, hasMadeRoom: Bool)
        /// The download has a slot; its part file is being opened.
        case opening(Operation)
        /// The download has a slot and a transfer.
        case transferring(Transfer)
        /// The download has a slot and a transfer that is being stopped.
        indirect case stopping(Transfer, because: StopReason)
        /// The bytes of a stopped transfer are being flushed.
        case flushing(Operation)
        /// All bytes are present; they are hashed, compared and flushed. `matches`: this has succeeded, and an earlier
        /// flush is still under way. A failed write may be reported to that flush alone.
        case verifying(Operation, matches: Bool)
        /// The file is being published.
        case publishing(Operation, isWithdrawn: Bool)
        /// The file has its name; the commit that completes the download at this time is under way.
        indirect case completing(Operation, PublishedFile, at: Timestamp)
        /// The commit that removes the record is under way.
        indirect case removing(Operation, Removal)
        case removed

        /// Whether the transfer's counters count bytes of the record's entity. Before a response is accepted, they do not.
        var hasAccepted: Bool {
            switch self {
            case .transferring(let transfer), .stopping(let transfer, _): transfer.hasAccepted && !transfer.isDisowned
            default: false
            }
        }

        /// The running transfer, or the one that is being stopped; `nil`: none.
        package var transfer: Operation? {
            switch self {
            case .transferring(let transfer), .stopping(let transfer, _): transfer.number
            default: nil
            }
        }
    }

    /// A running transfer, or one that is being stopped.
    package struct Transfer: Sendable, Equatable {
        /// The operation that identifies the attempt.
        package let number: Operation
        /// Whether a response was accepted. The first bytes of a small file create its part file.
        package var hasAccepted = false
        /// Set while the store may still count on bytes of an earlier generation.
        package var replacement: Replacement?
        /// Whether the transfer's bytes do not belong to the record.
        package var isDisowned = false
    }

    /// The commit that discards the bytes of an earlier generation. The part file of that generation stays until then.
    package struct Replacement: Sendable, Equatable {
        /// The operation of the commit.
        let commit: Operation
        private var earlyEnding: Box<TransferEnding>?

        init(commit: Operation) { self.commit = commit }

        /// The end of the transfer, if it came before the commit's; `nil`: the transfer still runs.
        var ending: TransferEnding? {
            get { earlyEnding?.value }
            set { earlyEnding = newValue.map(Box.init) }
        }
    }

    package enum StopReason: Sendable, Equatable {
        /// Commands wait for the end of the transfer.
        case commands
        case shutdown
        /// The transfer's bytes cannot be kept, for this reason.
        case failure(DownloadFailure)
        /// Written bytes could not be made durable.
        case fileFailed(FileError)
    }

    /// The path of a published file whose record is not completed yet.
    package struct PublishedName: Sendable, Equatable {
        package let path: FilePath
        package let identity: FileIdentity
        /// The SHA-256 of the file at its publication.
        package let sha256: [UInt8]
    }

    package struct Removal: Sendable, Equatable {
        package let waiter: Waiter
        package let deletesFile: Bool
        /// The ids of the messages to webhooks about the cancellation. A download that had ended has none.
        package let cancellation: [RecordID]
        /// Whether the bytes were removed before the commit, because a full disk refuses the removal otherwise.
        var hasMadeRoom = false
    }

    /// The number of a wait for a command's result.
    package typealias Waiter = UInt64

    /// A command that the machine has received.
    package struct Command: Sendable {
        /// The kind of a command, with its arguments.
        package enum Request: Sendable {
            case pause, resume, cancel, retry
            indirect case change(DownloadChange)
            /// Removes the record, and the finished file if `deletingFile` is true.
            case remove(deletingFile: Bool)
            /// Notes that the finished file is this one now; `nil`: it is missing.
            case noteFile(FileIdentity?)
        }

        package let waiter: Waiter
        package let request: Request
        /// Whether a published version is the one that the client means; `nil`: any version is. The machine does not
        /// call it, but asks for the result with ``Query/version(_:)``.
        package var isExpected: (@Sendable (Download) -> Bool)?

        package init(waiter: Waiter, request: Request, isExpected: (@Sendable (Download) -> Bool)? = nil) {
            self.waiter = waiter
            self.request = request
            self.isExpected = isExpected
        }
    }

    /// A question that only the service can answer, about the command that is carried out next.
    package enum Query: Sendable {
        /// Whether the published version of the download is the one that the client means.
        case version(@Sendable (Download) -> Bool)
        /// The name of a path that is reserved for the file: this one, or a numbered one.
        case name(FilePath)
        /// The position after a move of a download with this rank. `newest` is an unused id that is later than all
        /// arrivals.
        case placement(QueueMove, QueueRank, newest: RecordID)
    }

    /// The answer to a query.
    package enum Fact: Sendable {
        case version(isExpected: Bool)
        case name(String)
        case placement(QueuePlacement)
    }

    /// The name of a file that its response determines.
    package struct ResponseName: Sendable, Equatable {
        /// The name according to the response.
        package let wanted: String
        /// The name that is reserved: the wanted one, or a numbered one.
        package let reserved: String

        package init(wanted: String, reserved: String) {
            self.wanted = wanted
            self.reserved = reserved
        }
    }

    /// An input of the machine.
    package enum Event: Sendable {
        /// The record is durable, so the download may begin.
        case admitted
        indirect case command(Command)
        /// The answer to the last query. No other event comes between a query and its answer.
        case fact(Fact)
        /// The queue has given the download a slot. `obstacle`: the reason why its folder cannot be used.
        indirect case slotAcquired(obstacle: FileError?)
        case partOpened(Operation)
        /// The part file cannot be opened.
        indirect case partUnusable(Operation, FileError)
        /// A response was accepted, and this name is reserved for its file; `nil`: the file has a name already.
        indirect case accepted(Operation, TransferAcceptance, name: ResponseName?)
        indirect case ended(Operation, TransferEnding)
        /// These bytes should be made durable.
        case checkpointDue(Coverage)
        /// The flush of these bytes has ended. After an error, it is unknown whether they are on the disk.
        /// `fingerprints`: the ranges' fingerprints; empty if they are unknown.
        indirect case flushed(Operation, Coverage, FileError?, fingerprints: [Fingerprint] = [])
        case committed(Operation, StoreError?)
        /// The download gets another arrival, because another download needs room in the queue.
        case reassigned(RecordID)
        case verified(Operation, VerificationOutcome)
        indirect case published(Operation, Result<PublishedFile, FileError>)
        /// The publication was abandoned before the file had its name.
        case withdrawn(Operation)
        case timer(Timer)
        /// The removal of the finished file has ended, or has failed. No other event comes before it.
        indirect case fileRemoved(FileError?)
        /// The directory of part files is away. Work that needs it is abandoned, and the download waits.
        case directoryAway
        /// The directory of part files is back, with these bytes of the download.
        indirect case directoryBack(RecoveredPart)
        case shutdown
    }

    /// The result of verifying the bytes.
    package enum VerificationOutcome: Sendable, Equatable {
        case matches
        case differs(expected: String, actual: String)
        indirect case failed(FileError)
    }

    package enum Timer: Sendable, Hashable {
        /// The time of the next attempt.
        case retry(Operation)
        /// The longest wait of commands for a transfer, flush or publication to end.
        case patience(Operation)
        /// The time of the next attempt to save the record.
        case save
    }

    /// An output of the machine. The interpreter carries out actions in their order.
    package enum Action: Sendable {
        case enqueue
        /// Adds the download to the queue once a file system works and has this many free bytes; 0: any room. It is the
        /// folder's, or the part files' if that is empty.
        case enqueueWithRoom(Int64, folder: String)
        /// Removes the download from the queue, or releases its slot.
        case leaveQueue
        /// Moves the download to the position of its rank.
        case rearrange
        /// Gives other downloads new arrivals.
        case reassign([QueuePlacement.Other])
        /// Opens the part file, which must hold at least `holding` bytes.
        indirect case openPart(Operation, holding: Int64, publishedAs: PublishedName?)
        indirect case start(Operation, ResumeDecision.Ask)
        case stop
        /// Ignores the transfer from now on.
        case forgetTransfer
        /// Closes the part file and forgets its hash, because its bytes no longer count.
        case forgetBytes
        /// Flushes these bytes of the part file. `trims`: also frees the disk space that is reserved for other bytes.
        indirect case flush(Operation, Coverage, trims: Bool)
        /// Removes the part file of this generation, which no record counts on.
        case discardNewPart(UInt64?)
        /// Removes the part files of all generations but this one.
        case discardOldParts(keeping: UInt64?)
        /// Hashes, compares and flushes the first `length` bytes.
        case verify(Operation, length: Int64, expected: [Checksum])
        case abandonVerification
        /// Publishes the file under this path, or a numbered one. It is reserved now if the record has no name.
        indirect case publish(Operation, path: FilePath)
        /// Abandons the publication if its file has no name yet.
        case withdraw(Operation)
        /// Removes the part file's name: the file has another one, and the record is durable.
        case finishPublishing
        /// Saves the record together with the messages to webhooks.
        indirect case save(Operation, DownloadRecord, announcing: [EndAnnouncement])
        /// Saves the record of a finished file. It is published once it is durable.
        indirect case saveCompletion(Operation, DownloadRecord, announcing: [EndAnnouncement])
        /// Removes the record and keeps the messages to webhooks.
        case saveRemoval(Operation, announcing: [EndAnnouncement])
        /// Delivers messages to webhooks. They are durable, and the end of the download is published.
        case deliver([EndAnnouncement])
        /// Keeps the record, because its removal has failed.
        case abandonRemoval
        /// Saves with the next commit how many bytes are on the disk.
        case saveProgress(StoredProgress)
        /// Publishes this version of the download.
        indirect case publishVersion(Download)
        /// Publishes the removal, and releases the download's name.
        case publishRemoval
        /// Removes the part files of all generations.
        case discardPart
        /// Removes a finished file that the database has refused to record.
        indirect case discardFile(PublishedFile)
        /// Removes the finished file, if it is this one.
        /// ``Event/fileRemoved(_:)`` follows at once.
        indirect case removeFile(PublishedFile)
        /// Assigns a path to the finished file. Another download with that path has lost its file.
        /// The download's reservation ends.
        case assignName(FilePath)
        /// Reserves the folder of a file whose name is not known yet, in place of the former path.
        case reserveFolder(String)
        /// Reserves a path again that an earlier instance has given the file.
        case restoreName(FilePath)
        case releaseName
        /// Finds a fact. The event with it follows the other actions at once.
        indirect case query(Query)
        case setSpeedLimit(Int64)
        case setTimer(Timer, after: Duration)
        case cancelTimer(Timer)
        indirect case answer(Waiter, Result<Download, DownloadError>)
        indirect case log(DownloadLogEvent)

        /// Whether the action removes files. The following actions wait until it has ended.
        package var removesFiles: Bool {
            switch self {
            case .discardNewPart, .discardOldParts, .discardPart, .discardFile, .removeFile, .finishPublishing: true
            default: false
            }
        }
    }

    /// The data that the machine receives with an event.
    package struct Context {
        /// The wall-clock time.
        package var now: Timestamp
        package var random: any RandomNumberGenerator
        package var retryPolicy: RetryPolicy
        package var retention = Retention()
        /// Whether messages to webhooks are delivered.
        package var callsWebhooks = true
        /// The webhooks of all downloads.
        package var defaultWebhooks = DefaultWebhooks()
        package var identifiers = RecordIDGenerator()
        /// The actions that the event requires, in order.
        package var actions: [Action] = []

        package init(
            now: Timestamp, random: any RandomNumberGenerator, retryPolicy: RetryPolicy, retention: Retention = Retention(),
            identifiers: RecordIDGenerator = RecordIDGenerator()
        ) {
            self.now = now
            self.random = random
            self.retryPolicy = retryPolicy
            self.retention = retention
            self.identifiers = identifiers
        }

        /// Makes an unused id that is later than all others.
        package mutating func newIdentity(at time: Timestamp) -> RecordID {
            identifiers.next(now: time, using: &random)
        }
    }
}
