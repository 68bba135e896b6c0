internal import Downloads
internal import PawlConfiguration
internal import System
internal import Terminal

/// `pawl check`: compares the records of a data directory with its files, and mends what can be mended.
public enum CheckCommand {
    /// Tells on standard output what is wrong, a line each, and what has been looked at. Returns the process's exit status: 0 if
    /// everything is as it should be, or is by now, 1 if not.
    public static func run(_ invocation: Invocation) -> Int32 {
        let mends = invocation.repairs
        do throws(DownloadsStartError) {
            let check = try DirectoryCheck(path: invocation.configuration.dataDirectory)
            let report = try check.run(mending: mends) { fault in
                StandardStreams.writeOutput(line(for: fault, mends) + "\n")
            }
            StandardStreams.writeOutput(summary(of: report, mends) + "\n")
            return (report.faults.count == report.mended ? ExitStatus.done : .failed).rawValue
        } catch {
            StandardStreams.writeError("pawl: \(error)\n")
            return ExitStatus.failed.rawValue
        }
    }

    static func line(for fault: DirectoryFault, _ mends: Bool) -> String {
        let whose = fault.id.map { "\($0): " } ?? ""
        guard let remedy = fault.remedy else { return "\(whose)\(fault.detail); that cannot be mended here" }
        return mends ? "\(whose)\(fault.detail); mended: \(remedy)" : "\(whose)\(fault.detail)"
    }

    private static func count(_ number: Int, _ name: String) -> String {
        "\(number) \(name)\(number == 1 ? "" : "s")"
    }

    static func summary(of report: DirectoryReport, _ mends: Bool) -> String {
        let looked =
            count(report.records, "record") + ", " + count(report.files, "finished file")
            + " (\(HumanReadable.bytes(report.bytes)) hashed)"
        let known = report.missing > 0 ? ", \(count(report.missing, "more file")) known to be gone" : ""
        let left = report.faults.count - report.mended
        if report.faults.isEmpty { return "\(looked)\(known): nothing \(known.isEmpty ? "" : "else ")is wrong" }
        if left == 0 { return "\(looked)\(known): \(count(report.mended, "fault")), all mended" }
        let hint = !mends && report.faults.contains { $0.remedy != nil } ? "; --repair mends what can be mended" : ""
        return "\(looked)\(known): \(count(left, "fault"))\(report.mended > 0 ? ", \(report.mended) more are mended" : "")\(hint)"
    }
}
