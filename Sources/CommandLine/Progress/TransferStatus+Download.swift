internal import DownloadCore
internal import PawlConfiguration
internal import Terminal

extension TransferStatus {
    /// The status of a download.
    init(_ download: Download) {
        self.init(name: TerminalText(download.filename ?? Log.withoutSecrets(download.url)), state: download.state)
        bytesReceived = download.bytesReceived
        bytesTotal = download.bytesTotal
        bytesPerSecond = download.bytesPerSecond
        secondsLeft = download.etaSeconds
        isStalled = download.stalled
        reason = download.error.map { TerminalText($0.message) }
    }
}
