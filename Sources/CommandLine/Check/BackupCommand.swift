internal import Downloads
internal import PawlConfiguration
internal import System

/// `pawl backup`: copies the records of a data directory, beside a running service.
public enum BackupCommand {
    /// Returns the process's exit status: 0 if the copy is there, durably, 1 if not.
    public static func run(_ invocation: Invocation) -> Int32 {
        do throws(DownloadsStartError) {
            try RecordBackup.write(of: invocation.configuration.dataDirectory, to: invocation.operands.first ?? "")
            return ExitStatus.done.rawValue
        } catch {
            StandardStreams.writeError("pawl: \(error)\n")
            return ExitStatus.failed.rawValue
        }
    }
}
