internal import HTTPCore
internal import System

/// What a download's machine can be in, is told, and asks for.
extension DownloadMachine {
    /// What goes on for the download.
    enum Phase: Sendable, Equatable {
        /// Nothing: it is paused or has ended; or the service is stopping.
        case resting
        /// In the queue.
        case waiting
        /// Waits for its next attempt.
        case delayed(Operation)
        /// The bytes that it gives up are still counted on by the store; they go once that has been told.
        case clearing(Operation, enqueues: Bool)
        /// Has a turn; the part file is being opened.
        case opening(Operation)
        /// Has a turn and a transfer.
        case transferring(Transfer)
        /// Has a turn, and a transfer that was told to stop.
        case stopping(Transfer, because: StopReason)
        /// The bytes of a transfer that was stopped are made durable.
        case flushing(Operation)
        /// Every byte is there; they are hashed, compared and flushed. `matches`: that is done, and an earlier flush is not, which may
        /// be the one that is told of a failed write.
        case verifying(Operation, matches: Bool)
        /// The file gets its name.
        case publishing(Operation, isWithdrawn: Bool)
        /// The file has its name; the store is being told that the download was completed then.
        case completing(Operation, PublishedFile, at: Timestamp)
        /// The store is removing the record.
        case removing(Operation, Removal)
        /// The record is gone.
        case removed
    }

    /// A transfer that runs or is being stopped.
    struct Transfer: Sendable, Equatable {
        /// The attempt.
        let number: Operation
        /// Whether a response was accepted, so that there is a part file which bytes are placed in.
        var isPlacing = false
        /// Set while the store may still count on the bytes of an earlier generation.
        var replacement: Replacement?
        /// The bytes that it brings are none of the record's.
        var isDisowned = false
    }

    /// The part file of an earlier generation stays until the store knows that its bytes are given up.
    struct Replacement: Sendable, Equatable {
        /// The commit that tells the store.
        let commit: Operation
        /// The end of the transfer, if it came meanwhile.
        var ending: TransferReport.Ending?
    }

    enum StopReason: Sendable, Equatable {
        /// Commands wait for it.
        case commands
        /// The service is stopping.
        case shutdown
        /// What it brings cannot be kept.
        case failure(DownloadFailure)
    }

    /// The name of a file whose record does not say yet that it is finished.
    struct PublishedName: Sendable, Equatable {
        let path: FilePath
        let identity: FileIdentity
        /// The SHA-256 that it had when it was published.
        let sha256: [UInt8]
    }

    /// The removal of a record.
    struct Removal: Sendable, Equatable {
        let waiter: Waiter
        let deletesFile: Bool
        /// The message that tells the webhook of it; `nil`: the download had ended, or no webhook is called.
        let cancellation: DownloadID?
        /// Whether its bytes have gone first, as a full disk does not take the removal otherwise.
        var hasMadeRoom = false
    }

    /// Names somebody who waits for the answer to a command.
    typealias Waiter = UInt64

    /// A command on its way.
    struct Command: Sendable {
        /// What is asked for.
        enum Request: Sendable {
            case pause, resume, cancel, retry
            /// Change these.
            case change(DownloadChange)
            /// Remove the record, and the finished file if that is asked for.
            case remove(deletingFile: Bool)
            /// The finished file was found to be gone, or to be this one.
            case noteFile(FileIdentity?)
        }

        let waiter: Waiter
        let request: Request
        /// Whether the download, as it stands when the command's turn comes, is the one that is meant.
        var isExpected: @Sendable (Download) -> Bool = { _ in true }
        /// Where the queue, as it stands then, has room for the download that wants to be moved there; the last is an identity that is
        /// nobody's, and later than all arrivals.
        var seat: @Sendable (Download, QueueMove, DownloadID) -> QueueSeat = { download, _, _ in
            QueueSeat(position: 0, rank: download.rank)
        }
    }

    /// What can happen.
    enum Event: Sendable {
        /// The record is durable, or was there when the service started: the download may begin.
        case admitted
        case command(Command)
        /// The queue gave it a turn.
        case turnGiven
        /// The part file is open.
        case partOpened(Operation)
        /// It is not there, or not as long as it has to be; or it cannot be opened, for this reason.
        case partUnusable(Operation, DownloadFailure?)
        case accepted(Operation, TransferReport.Acceptance)
        case ended(Operation, TransferReport.Ending)
        /// Bytes should be made durable.
        case checkpointDue(Coverage)
        /// These bytes are on the disk, or nobody knows whether they are.
        case flushed(Operation, Coverage, FileError?)
        case committed(Operation, StoreError?)
        /// To make room in the queue it arrives as this one.
        case reseated(DownloadID)
        case verified(Operation, VerificationOutcome)
        case published(Operation, Result<PublishedFile, FileError>)
        /// The publication was called off in time.
        case withdrawn(Operation)
        case timer(Timer)
        /// The directory of part files is away: what goes on in it is given up, and waits.
        case directoryAway
        /// The directory of part files is back, with these bytes of the download.
        case directoryBack(RecoveredPart)
        /// The service is stopping.
        case shutdown
    }

    /// What became of verifying the bytes.
    enum VerificationOutcome: Sendable, Equatable {
        case matches
        case differs(expected: String, actual: String)
        case failed(FileError)
    }

    /// A point in time that is waited for.
    enum Timer: Sendable, Hashable {
        /// The next attempt.
        case retry(Operation)
        /// The end of patience with whatever commands wait for.
        case patience(Operation)
        /// The next try to save.
        case save
    }

    /// What has to be done, in this order.
    enum Action: Sendable {
        /// Enter the queue.
        case enqueue
        /// Leave the queue, or give the turn back.
        case leaveQueue
        /// Stand where its rank says.
        case rearrange
        /// Have others arrive anew in the queue.
        case reseat([QueueSeat.Other])
        /// Open the part file, which has to hold so many bytes.
        case openPart(Operation, holding: Int64, publishedAs: PublishedName?)
        /// Begin a transfer.
        case start(Operation, ResumeDecision.Ask)
        /// Tell the transfer to stop.
        case stop
        /// Nothing is to be heard of the transfer any more.
        case forgetTransfer
        /// The bytes that the part file has are given up: their hash, too.
        case forgetBytes
        /// Make these bytes of the part file durable; `trims`: and give back the room of others.
        case flush(Operation, Coverage, trims: Bool)
        /// Remove the part file of this generation, which nothing counts on.
        case discardNewPart(UInt64?)
        /// Remove the part files of all generations but this one.
        case discardOldParts(keeping: UInt64?)
        /// Hash, compare and flush so many bytes.
        case verify(Operation, length: Int64, expected: [Checksum])
        case abandonVerification
        case publish(Operation, path: FilePath)
        /// Call the publication off if its file has no name yet.
        case withdraw(Operation)
        /// Drop the part file's name: the file has another, and the record says so.
        case finishPublishing
        /// Save the record, and with it the messages to its webhook.
        case save(Operation, DownloadRecord, announcing: [WebhookDelivery])
        /// Save the record of a finished file, which is shown once it is durable.
        case saveCompletion(Operation, DownloadRecord, announcing: [WebhookDelivery])
        /// Remove the record, and keep the messages to its webhook.
        case saveRemoval(Operation, announcing: [WebhookDelivery])
        /// Deliver messages to the webhook: they are durable, and readers see the end.
        case deliver([WebhookDelivery])
        /// The record stays after all.
        case abandonRemoval
        /// Save how many bytes are on the disk, some time soon.
        case saveProgress(StoredProgress)
        /// Show readers the download like this.
        case show(Download)
        case showRemoval
        /// Remove the part files of all generations.
        case discardPart
        /// Remove a finished file that the database has refused to record.
        case discardFile(PublishedFile)
        /// Remove the finished file, if it is this one.
        case removeFile(FilePath, FileIdentity)
        /// Another record had this path before: its file is gone.
        case claimName(FilePath)
        case setSpeedLimit(Int64)
        case setTimer(Timer, after: Duration)
        case cancelTimer(Timer)
        case answer(Waiter, Result<Download, DownloadError>)
        case log(DownloadLogEvent)
    }

    /// What is passed in with an event.
    struct Context {
        /// The time on the wall.
        var now: Timestamp
        var random: any RandomNumberGenerator
        /// The paths under `files`.
        var names: FileNames
        var retryPolicy: RetryPolicy
        var retention = Retention()
        /// Whether messages to webhooks are delivered at all.
        var callsWebhooks = true
        var identifiers = DownloadIDGenerator()
        /// The actions that the event calls for are appended here.
        var actions: [Action] = []

        /// An identity that is nobody's yet, and later than all there are.
        mutating func newIdentity(at time: Timestamp) -> DownloadID {
            identifiers.next(now: time, using: &random)
        }
    }
}
