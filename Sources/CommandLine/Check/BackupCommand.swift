internal import Downloads
internal import Glibc
internal import PawlConfiguration
internal import Synchronization
internal import System

/// `pawl backup`: copies the records of a data directory, beside a running service.
public enum BackupCommand {
    /// Returns the process's exit status: 0 if the copy is there, durably, 1 if not, and 128 with the signal's number
    /// added if one ended it. `SignalWatcher.prepare()` must have been called.
    public static func run(_ invocation: Invocation) -> Int32 {
        let path = invocation.operands.first ?? ""
        let unfinished = UnfinishedBackup()
        let interruption = Interruption()
        // SQLite copies all in one step, which this thread can't leave.
        SignalWatcher.watch(limit: .seconds(2)) { signal in
            interruption.signal.store(signal, ordering: .releasing)
            unfinished.remove()
            StandardStreams.writeError("pawl: interrupted\n")
            _exit(128 + signal)
        }
        do throws(DownloadsStartError) {
            let configuration = invocation.configuration
            try RecordBackup.write(
                of: configuration.dataDirectory, claimed: configuration.claimedDirectory, to: path, unfinished: unfinished)
            return ExitStatus.done.rawValue
        } catch {
            // It fails because its file was removed; the thread of the signals says so.
            if interruption.isRaised { return 128 + interruption.signal.load(ordering: .acquiring) }
            StandardStreams.writeError("pawl: \(path) is not written: \(error)\n")
            return ExitStatus.failed.rawValue
        }
    }
}
