internal import DownloadCore
internal import System

/// The numbers of downloads with work under way.
struct BusyCounts {
    /// The number of downloads with any work. A stopping service waits for them.
    private(set) var busy = 0
    /// The number of downloads whose files are being verified or published.
    private(set) var finishing = 0
    /// Downloads with a transfer.
    var transferring: Set<RecordID> = []
    /// The end of all work, which a stopping service waits for; `nil`: it does not wait.
    var idle: Outcome<Void>?

    /// Counts a download by its present work.
    mutating func note(_ download: LiveDownload, isBusy: Bool, isFinishing: Bool) {
        if isBusy != download.isBusy { busy += isBusy ? 1 : -1 }
        if isFinishing != download.isFinishing { finishing += isFinishing ? 1 : -1 }
        (download.isBusy, download.isFinishing) = (isBusy, isFinishing)
    }
}
