internal import HTTPCore
internal import Synchronization
internal import System
internal import Terminal

/// `pawl get`: downloads into the current directory or another one, with the engine of the service.
///
/// The engine works in a hidden directory inside the target directory, so that a finished file gets its name in one
/// step. The hidden directory stays while a download is unfinished, so that repeating the command resumes. Commands that
/// work in the same directory at a time have one each.
public enum GetCommand {
    /// The interval at which a terminal is redrawn.
    private static let redrawInterval: Duration = .milliseconds(200)

    /// Runs the command, and returns the process's exit status. `SignalWatcher.prepare()` must have been called.
    public static func run(_ invocation: Invocation) async -> Int32 {
        let invocation = takingOutputAsDirectory(invocation)
        let (ticks, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let interruption = Interruption()
        SignalWatcher.watch(limit: .seconds(9)) { signal in
            interruption.signal.store(signal, ordering: .releasing)
            continuation.yield()
        }
        let begun = ContinuousClock.now
        var display = display(of: invocation)
        do {
            let operands = try URLList.operands(of: invocation)
            let session = try await GetSession.open(invocation, urls: operands.compactMap(\.url))
            let isComplete = await session.run(
                ticks: ticks, wake: { continuation.yield() }, interval: redrawInterval, interruption: interruption,
                display: &display)
            display.end(isInterrupted: interruption.isRaised, after: .now - begun)
            let kept = await session.end()
            guard interruption.isRaised else { return (isComplete ? ExitStatus.done : .failed).rawValue }
            StandardStreams.writeError("pawl: interrupted; run the same command again to resume\(kept)\n")
            return 128 + interruption.signal.load(ordering: .acquiring)
        } catch let error as PrivateDirectoryError {
            return invocation.report(error)
        } catch let error as UsageError {
            StandardStreams.writeError("\(error)\n")
            return ExitStatus.usage.rawValue
        } catch {
            StandardStreams.writeError("pawl: \(error)\n")
            return ExitStatus.failed.rawValue
        }
    }

    /// Returns the command with `-o` as its directory, if that names one.
    private static func takingOutputAsDirectory(_ invocation: Invocation) -> Invocation {
        guard let output = invocation.output else { return invocation }
        let (folder, name) = GetTarget.parts(of: output, in: invocation.directory)
        guard let name, name.isEmpty || (try? Directory(opening: SmallFile.path(of: name, in: folder))) != nil else {
            return invocation
        }
        var changed = invocation
        changed.output = nil
        changed.directory = name.isEmpty ? folder : SmallFile.path(of: name, in: folder)
        return changed
    }

    private static func display(of invocation: Invocation) -> ProgressDisplay {
        let isTerminal = TerminalDevice.canDraw(on: ProcessEnvironment.variable("TERM"))
        // Standard error has the failures, unless it is the same terminal.
        let showsFailures = invocation.writesJSON || isTerminal && StandardStreams.errorIsTerminal
        return ProgressDisplay(
            mode: invocation.writesJSON ? .json : isTerminal ? .terminal : .lines, name: invocation.output,
            showsFailures: showsFailures,
            appearance: Appearance(environment: ProcessEnvironment.variable, isTerminal: isTerminal),
            size: { TerminalDevice.size }, write: { StandardStreams.writeOutput($0) })
    }
}

extension DownloadOperand {
    /// The URL; `nil` if the operand is not one.
    fileprivate var url: HTTPURL? {
        if case .url(let url) = self { url } else { nil }
    }
}

/// The user's interruption of the command.
final class Interruption: Sendable {
    /// The received signal; 0 if there is none.
    let signal = Atomic<Int32>(0)

    var isRaised: Bool { signal.load(ordering: .acquiring) != 0 }
}
