internal import Downloads
internal import PawlConfiguration
internal import System

/// `pawl backup`: copies the records of a data directory, beside a running service.
public enum BackupCommand {
    /// Returns the process's exit status: 0 if the copy is there, durably, 1 if not.
    public static func run(_ invocation: Invocation) -> Int32 {
        let path = invocation.operands.first ?? ""
        do throws(DownloadsStartError) {
            try RecordBackup.write(of: invocation.configuration.dataDirectory, to: path)
            return ExitStatus.done.rawValue
        } catch {
            StandardStreams.writeError("pawl: \(path) is not written: \(error)\n")
            return ExitStatus.failed.rawValue
        }
    }
}
