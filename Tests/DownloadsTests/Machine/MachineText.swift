@testable import DownloadCore
@testable import DownloadStore
@testable import DownloadTransfer

/// The events and actions of a machine in a few words, for tables and traces. Numbers of operations are omitted.
extension DownloadMachine.Event {
    var words: String {
        switch self {
        case .admitted: "admitted"
        case .command(let command): command.request.words
        case .fact: "fact"
        case .slotAcquired: "slot acquired"
        case .partOpened: "part opened"
        case .partUnusable(_, let error): error.meansNoBytes ? "part missing" : "part unusable, \(error.kind)"
        case .accepted(_, let acceptance, _):
            acceptance.isReplacement
                ? "replacement accepted" : acceptance.written.ranges.isEmpty ? "accepted" : "continuation accepted"
        case .ended(_, let ending):
            switch ending.outcome {
            case .whole: "ended whole"
            case .askAgain: "ended to request again"
            case .awaitRoom: "ended to await room"
            case .lostBytes: "ended without its bytes"
            case .fileFailed(let error):
                "ended at the file, \(error.kind)\(error.kind == .full && error.neededBytes > 0 ? " for good" : "")"
            case .cancelled: "ended after a stop"
            case .failed(let failure, let retryAfter):
                "ended \(failure.retryable ? "retryable" : "for good")\(retryAfter == nil ? "" : " with Retry-After")"
            }
        case .checkpointDue: "checkpoint due"
        case .flushed(_, _, let error, _):
            switch error?.kind {
            case nil: "flushed"
            case .short: "flushed, short"
            case .away: "flush failed, away"
            default: "flush failed"
            }
        case .committed(_, let error): error == nil ? "committed" : error == .full ? "commit failed, full" : "commit failed"
        case .reassigned: "arrival changed"
        case .verified(_, .matches): "verified"
        case .verified(_, .differs): "checksum differs"
        case .verified(_, .failed(let error)): "verification failed, \(error.kind)"
        case .published(_, .success): "published"
        case .published(_, .failure(let error)): "publication failed, \(error.kind)"
        case .withdrawn: "withdrawn"
        case .timer(.retry): "retry due"
        case .timer(.patience): "patience over"
        case .timer(.save): "save due"
        case .fileRemoved(let error):
            error == nil ? "file removed" : error?.kind == .away ? "file not removed, away" : "file not removed"
        case .directoryAway: "directory away"
        case .directoryBack: "directory back"
        case .shutdown: "shutdown"
        }
    }
}

extension DownloadMachine.Command.Request {
    var words: String {
        switch self {
        case .pause: "pause"
        case .resume: "resume"
        case .cancel: "cancel"
        case .retry: "retry"
        case .change(let change):
            change.url != nil ? "new url" : change.filename != nil ? "new filename" : change.move != nil ? "move" : "change"
        case .remove(let deletesFile): deletesFile ? "remove with file" : "remove"
        case .noteFile(let identity): identity == nil ? "file missing" : "file found"
        }
    }
}

extension DownloadMachine.Action {
    var words: String? {
        switch self {
        case .enqueue: "enqueue"
        case .enqueueWithRoom(let bytes, let folder): "enqueue with \(bytes) free\(folder.isEmpty ? "" : " in \(folder)")"
        case .leaveQueue: "leave queue"
        case .rearrange: "rearrange"
        case .reassign: "reassign"
        case .openPart: "open part"
        case .start(_, let ask): "start \(ask.range ?? "whole")"
        case .stop: "stop"
        case .forgetTransfer: "forget transfer"
        case .forgetBytes: "forget bytes"
        case .flush(_, _, let trims): trims ? "flush and trim" : "flush"
        case .discardOldParts: "discard old parts"
        case .discardNewPart: "discard new part"
        case .verify: "verify"
        case .abandonVerification: "abandon verification"
        case .publish: "publish"
        case .withdraw: "withdraw"
        case .finishPublishing: "finish publishing"
        case .save(_, let record, let messages): "save \(record.download.state)\(messages.words)"
        case .saveCompletion(_, _, let messages): "save completion\(messages.words)"
        case .saveRemoval(_, let messages): "save removal\(messages.words)"
        case .deliver(let messages): "deliver \(messages.map(\.download.state.rawValue).joined(separator: " and "))"
        case .abandonRemoval: "abandon removal"
        case .saveProgress: "save progress"
        case .publishVersion(let download): "publish \(download.state) \(download.revision)"
        case .publishRemoval: "publish removal"
        case .discardPart: "discard part"
        case .discardFile: "discard file"
        case .removeFile: "remove file"
        case .assignName: "assign name"
        case .setSpeedLimit: "set speed limit"
        case .setTimer(let timer, _): "set \(timer.words)"
        case .cancelTimer(let timer): "cancel \(timer.words)"
        case .answer(_, .success(let download)): "answer \(download.state)"
        case .answer(_, .failure(let error)): "refuse, \(error.words)"
        case .log, .query, .reserveFolder, .restoreName, .releaseName: nil
        }
    }
}

extension [EndAnnouncement] {
    fileprivate var words: String {
        switch count {
        case 0: ""
        case 1: " and announce"
        default: " and announce \(count)"
        }
    }
}

extension DownloadMachine.Timer {
    var words: String {
        switch self {
        case .retry: "retry timer"
        case .patience: "patience"
        case .save: "save timer"
        }
    }
}

extension DownloadError {
    fileprivate var words: String {
        switch self {
        case .illegalTransition: "illegal"
        case .preconditionFailed: "precondition"
        case .notFound: "not found"
        case .shuttingDown: "shutting down"
        case .overloaded: "overloaded"
        case .unconfirmed: "unconfirmed"
        case .insufficientStorage: "full"
        case .storeFailed, .storeAway: "store"
        default: "\(self)"
        }
    }
}

extension DownloadMachine.Phase {
    var words: String {
        switch self {
        case .idle: "idle"
        case .waiting: "waiting"
        case .delayed: "delayed"
        case .clearing(_, let enqueues, _): enqueues ? "clearing to begin again" : "clearing"
        case .opening: "opening"
        case .transferring(let transfer): "transferring" + transfer.words
        case .stopping(let transfer, let reason):
            switch reason {
            case .commands: "stopping for commands" + transfer.words
            case .shutdown: "stopping for shutdown" + transfer.words
            case .failure, .fileFailed: "stopping for a failure" + transfer.words
            }
        case .flushing: "flushing"
        case .verifying(_, let matches): matches ? "verified" : "verifying"
        case .publishing(_, let isWithdrawn): isWithdrawn ? "publishing, to be withdrawn" : "publishing"
        case .completing: "completing"
        case .removing(_, let removal): removal.hasMadeRoom ? "removing after making room" : "removing"
        case .removed: "removed"
        }
    }
}

extension DownloadMachine.Transfer {
    fileprivate var words: String {
        var words = hasAccepted ? ", placing" : ""
        if let replacement {
            words += ", recording a replacement"
            if replacement.ending != nil { words += ", ended" }
        }
        return words + (isDisowned ? ", disowned" : "")
    }
}
