internal import PawlConfiguration
internal import System

/// Runs programs that come to an end by themselves.
enum ProgramRun {
    /// How long one may take: the first start of a database on a slow disk, and a multiple of that.
    private static let limit: Duration = .seconds(120)

    /// Runs a program to its end.
    /// - Throws: one line with the last one that it wrote, if it fails.
    static func finish(_ program: ChildProcess.Program) async throws(StartError) {
        let name = program.path.split(separator: "/").last.map(String.init) ?? program.path
        let child: ChildProcess
        do throws(SystemError) {
            child = try await ChildProcess.start(program)
        } catch {
            throw StartError("cannot start \(program.path): \(error)")
        }
        let killing = Task {
            try await Task.sleep(for: limit)
            child.signal(.kill)
        }
        defer { killing.cancel() }
        var last = ""
        for await output in child.output {
            switch output {
            case .line(let line):
                if line.contains(where: { !$0.isWhitespace }) { last = line }
            case .ended(.exited(0)): return
            case .ended(let ending): throw StartError("\(name) \(ending): \(last)")
            }
        }
    }
}
