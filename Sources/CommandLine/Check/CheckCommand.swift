internal import Downloads
internal import HTTPClient
internal import PawlConfiguration
internal import System
internal import Terminal

/// `pawl check`: compares the records of a data directory with its files, or a fleet's with its objects, and
/// repairs faults if possible.
public enum CheckCommand {
    /// Runs the command. Writes each fault to standard output, and a summary.
    /// - Returns: The process's exit status: 0 if there are no faults or all are repaired, 1 if faults remain, 5 if no
    ///   fault was found but not everything could be checked.
    public static func run(_ invocation: Invocation) async -> Int32 {
        let repairs = invocation.repairs
        var configuration = invocation.configuration
        var hasFault = false
        func write(_ fault: DirectoryFault) {
            hasFault = true
            StandardStreams.writeOutput(TerminalText(line(for: fault, repairs)).string + "\n")
        }
        do {
            try configuration.readStore()
            let downloads = configuration.downloads
            let report: DirectoryReport
            if let database = downloads.database, let location = downloads.objects, let credentials = downloads.objectCredentials
            {
                let client = try configuration.makeClient()
                defer { client.shutdown() }
                report = try await FleetCheck(database: database, objects: (location, credentials), client: client)
                    .run(repairing: repairs, deep: invocation.isDeep, onFault: write)
            } else {
                let check = try DirectoryCheck(
                    path: downloads.dataDirectory, opened: downloads.privateDirectory,
                    downloads: downloads.downloadsDirectory, beginningAnew: repairs)
                report = try check.run(repairing: repairs, onFault: write)
            }
            StandardStreams.writeOutput(
                TerminalText(summary(of: report, repairs, isFleet: configuration.isReplica)).string + "\n")
            return (report.faults.count == report.repaired ? ExitStatus.done : .failed).rawValue
        } catch {
            StandardStreams.writeError("\(UsageError("pawl: \(error)"))\n")
            return (hasFault ? ExitStatus.failed : .unchecked).rawValue
        }
    }

    static func line(for fault: DirectoryFault, _ repairs: Bool) -> String {
        let prefix = fault.id.map { "\($0): " } ?? ""
        guard let remedy = fault.remedy else { return "\(prefix)\(fault.detail); it cannot be repaired" }
        return repairs ? "\(prefix)\(fault.detail); repaired: \(remedy)" : "\(prefix)\(fault.detail)"
    }

    private static func count(_ number: Int, _ name: String) -> String {
        "\(number) \(name)\(number == 1 ? "" : "s")"
    }

    static func summary(of report: DirectoryReport, _ repairs: Bool, isFleet: Bool = false) -> String {
        let hashed = isFleet && report.bytes == 0 ? "" : " (\(HumanReadable.bytes(report.bytes)) hashed)"
        let files = count(report.files, isFleet ? "object" : "finished file") + hashed
        let checked = count(report.records, "record") + ", " + files
        let known = report.missing > 0 ? ", \(count(report.missing, "more file")) known to be missing" : ""
        let left = report.faults.count - report.repaired
        let foreign =
            report.foreign.isEmpty ? "" : "; incomplete/ has other things, which stay: \(report.foreign.joined(separator: ", "))"
        if report.faults.isEmpty { return "\(checked)\(known): no \(known.isEmpty ? "" : "other ")faults\(foreign)" }
        let backup = (report.backup.map { "; the previous records are in \($0)" } ?? "") + foreign
        if left == 0 { return "\(checked)\(known): \(count(report.repaired, "fault")), all repaired\(backup)" }
        let hint = !repairs && report.faults.contains { $0.remedy != nil } ? "; --repair repairs what it can" : ""
        return
            "\(checked)\(known): \(count(left, "fault"))\(report.repaired > 0 ? ", \(report.repaired) more are repaired" : "")\(hint)\(backup)"
    }
}
