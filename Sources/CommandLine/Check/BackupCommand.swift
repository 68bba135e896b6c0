internal import DownloadCore
internal import Downloads
internal import DownloadStore
internal import Glibc
internal import PawlConfiguration
internal import Synchronization
internal import System

/// `pawl backup`: copies the records of a data directory, beside a running service.
public enum BackupCommand {
    /// Runs the command. `SignalWatcher.prepare()` must have been called.
    /// - Returns: The process's exit status: 0 if the copy is durable, 1 if it failed, 128 plus the signal's number if
    ///   a signal ended the command.
    public static func run(_ invocation: Invocation) -> Int32 {
        let path = invocation.operands.first ?? ""
        let unfinished = UnfinishedBackup()
        let interruption = Interruption()
        // SQLite copies everything in one step, which this thread cannot interrupt.
        SignalWatcher.watch(limit: .seconds(2)) { signal in
            interruption.signal.store(signal, ordering: .releasing)
            unfinished.remove()
            StandardStreams.writeError("pawl: interrupted\n")
            _exit(128 + signal)
        }
        do throws(DownloadsStartError) {
            let configuration = invocation.configuration.downloads
            try RecordBackup.write(
                of: configuration.dataDirectory, opened: configuration.privateDirectory, to: path, unfinished: unfinished)
            return ExitStatus.done.rawValue
        } catch {
            // The signal's thread has removed the file and reported the interruption.
            if interruption.isRaised { return 128 + interruption.signal.load(ordering: .acquiring) }
            StandardStreams.writeError("\(UsageError("pawl: cannot write \(path): \(error)"))\n")
            return ExitStatus.failed.rawValue
        }
    }
}
