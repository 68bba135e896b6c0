internal import Downloads
internal import HTTPClient
internal import HTTPCore
internal import Synchronization

/// `pawl get`: downloads to where the user stands, through the same engine as the service.
///
/// The engine works in a hidden directory inside of the target directory, so that a finished file gets to its name in one step. It
/// stays there while anything is unfinished; that is how running the command again resumes. Only one `pawl get` works in a directory
/// at a time.
public enum GetCommand {
    /// The hidden directory's name.
    static let workDirectory = ".pawl-get"
    /// How often a terminal is redrawn.
    private static let redrawInterval: Duration = .milliseconds(200)

    /// Downloads, and returns the process's exit status: 0 if every URL completed, 1 if not, 130 after Ctrl-C.
    /// `SignalWatcher.prepare()` must have been called.
    public static func run(_ invocation: Invocation) async -> Int32 {
        let (ticks, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let interruption = Interruption()
        SignalWatcher.watch(limit: .seconds(9)) { signal in
            interruption.signal.store(signal, ordering: .releasing)
            continuation.yield()
        }
        var display = ProgressDisplay(
            isTerminal: StandardStreams.outputIsTerminal, columns: StandardStreams.columns,
            write: { StandardStreams.writeOutput($0) })
        do throws(ServiceStartError) {
            let session = try await GetSession(invocation)
            let isComplete = await session.run(
                ticks: ticks, wake: { continuation.yield() }, interval: redrawInterval, interruption: interruption,
                display: &display)
            await session.end()
            if interruption.isRaised {
                StandardStreams.writeError("pawl: interrupted; run the same command again to resume\n")
                return 128 + interruption.signal.load(ordering: .acquiring)
            }
            return isComplete ? 0 : 1
        } catch {
            StandardStreams.writeError("pawl: \(error)\n")
            return 1
        }
    }
}

/// Whether the user has had enough.
final class Interruption: Sendable {
    /// The signal that came; 0 before.
    let signal = Atomic<Int32>(0)

    var isRaised: Bool { signal.load(ordering: .acquiring) != 0 }
}
