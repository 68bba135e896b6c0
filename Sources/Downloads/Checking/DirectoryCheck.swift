public import DownloadCore
internal import DownloadFiles
internal import DownloadStore
public import System

/// Compares the records of a data directory with its files, and repairs what can be repaired without the network.
///
/// It holds the directory's lock while it exists, so that no service uses the directory. A record file of an
/// older release is migrated to the present schema, as by a service.
public final class DirectoryCheck {
    private let directory: DataDirectory
    private let partFiles: PartFiles
    private let finishedFiles: LocalFinishedFiles
    private let connection: SQLiteConnection
    private let writer: SQLiteStatements
    /// The reason why the records were lost, before new ones were begun; `nil`: they were there.
    private let loss: String?

    /// Locks and opens the directory.
    /// - Parameters:
    ///   - path: The data directory.
    ///   - opened: The open data directory, if it is private; `nil`: it is opened by its path.
    ///   - downloadsPath: The directory of the files; `nil`: the data directory.
    ///   - beginsAnew: Whether lost records are replaced by new ones.
    /// - Throws: One clear line if there is no data directory, if it is in use, or if its records cannot be read at all.
    public init(
        path: String, opened: Directory? = nil, downloads downloadsPath: String? = nil, beginningAnew beginsAnew: Bool = false
    ) throws(DownloadsStartError) {
        // A misspelt path must not create a directory. A directory without files must not make all files count as lost.
        guard let place = try? opened ?? Directory(opening: path),
            (try? place.status(of: DataDirectory.databaseName))?.kind == .regular || DataDirectory.hasParts(in: place)
        else {
            throw DownloadsStartError("\(path) is no data directory: it has no pawl.sqlite")
        }
        let files = downloadsPath ?? path
        guard let place = try? downloadsPath.map(Directory.init(opening:)) ?? place,
            (try? place.status(of: "files"))?.kind == .directory
        else {
            throw DownloadsStartError("\(files) has no directory 'files': --downloads-dir names the one that has it")
        }
        do {
            directory = try DataDirectory(path: path, opened: opened, downloads: downloadsPath)
            partFiles = PartFiles(directory)
            finishedFiles = LocalFinishedFiles(partFiles)
            (connection, loss) = try directory.openRecords(beginningAnew: beginsAnew)
            writer = try SQLiteStatements(connection)
        } catch {
            throw DownloadsStartError(error)
        }
    }

    /// Checks all records and files.
    /// - Parameters:
    ///   - repairing: Whether faults are repaired, as far as possible.
    ///   - onFault: Receives each fault as it is found.
    /// - Throws: One clear line if something cannot be read or written.
    public func run(
        repairing: Bool, onFault: (DirectoryFault) -> Void = { _ in }
    ) throws(DownloadsStartError) -> DirectoryReport {
        var report = DirectoryReport()
        do {
            try checkRecordFile(&report, onFault)
            if loss != nil {
                note(DirectoryFault(.lostRecords, nil, "pawl.sqlite has no records"), &report, onFault)
                report.repaired += 1
            }
            // The contents of a damaged record file justify no changes.
            let repairs = repairing && !report.faults.contains { $0.kind == .damagedRecords }
            var contents = try writer.load()
            try checkVolume(contents)
            let refused = try contents.refused + writer.refusedDeliveries()
            if repairs, !refused.isEmpty {
                report.backup = try backUp()
                for row in refused { try writer.mend(row) }
                contents = try writer.load()
            }
            let unrepaired = try repairs && !refused.isEmpty ? contents.refused + writer.refusedDeliveries() : []
            let left = Dictionary(grouping: unrepaired, by: \.table).mapValues { Set($0.map(\.key)) }
            for row in refused {
                let isLeft = left[row.table]?.contains(row.key) ?? false
                let fault = DirectoryFault(.refusedRecord, row.id, "pawl.sqlite: \(row.reason)", isRepairable: !isLeft)
                note(fault, &report, onFault)
                if repairs, !isLeft { report.repaired += 1 }
            }
            let records = Array(contents.records)
            let names = FinishedNames(records.compactMap { FinishedNames.Completion($0.download) })
            for record in records { try check(record, names, repairs, &report, onFault) }
            try checkOrphans(records, contents.refused, repairs, &report, onFault)
        } catch {
            throw DownloadsStartError(error)
        }
        return report
    }

    /// Copies the record file before rows are changed, never over an earlier copy.
    /// - Returns: The name of the copy.
    private func backUp() throws -> String {
        let top = directory.top
        let first = "pawl.sqlite.before-repair"
        var name = first
        var number = 2
        while try top.status(of: name) != nil {
            name = "\(first).\(number)"
            number += 1
        }
        let (records, path) = (DataDirectory.databaseName, directory.path)
        try RecordBackup.copy(records, of: top, at: path, to: name, in: top, at: path)
        return name
    }

    /// Refuses to check files whose volume is away, because they are not lost.
    private func checkVolume(_ contents: StoredContents) throws {
        guard directory.downloadsPath != directory.path else { return }
        let known = KnownVolumes(contents.settings[KnownVolumes.settingName] ?? "")
        let verdict = known.verdict(directory.findMarker(), at: directory.downloadsPath, hasParts: directory.hasParts())
        if case .away(let reason) = verdict { throw DownloadsStartError(reason) }
    }

    private func checkRecordFile(_ report: inout DirectoryReport, _ onFault: (DirectoryFault) -> Void) throws(SQLiteError) {
        let rows = try connection.prepare("PRAGMA integrity_check(10)")
        while try rows.step() {
            guard let line = rows.text(0), line != "ok" else { continue }
            note(DirectoryFault(.damagedRecords, nil, "pawl.sqlite: \(line)"), &report, onFault)
        }
    }

    private func check(
        _ record: DownloadRecord, _ names: FinishedNames, _ repairs: Bool, _ report: inout DirectoryReport,
        _ onFault: (DirectoryFault) -> Void
    ) throws {
        report.records += 1
        let download = record.download
        var evidence = RecordInspection.Evidence()
        if download.state != .completed {
            evidence.part = try partFiles.recover(record.id, record.partGeneration, likelyPath: download.path)
        } else if let path = download.path {
            evidence.isSuperseded = names.owner(of: path) != record.id
            evidence.file = evidence.isSuperseded ? nil : try finishedFiles.identify(path)
            if let file = evidence.file {
                report.files += 1
                if RecordInspection(record: record, evidence: evidence).needsHash {
                    var digest = FileDigest()
                    try partFiles.openPublished(path, length: file.size).hash(upTo: file.size, into: &digest)
                    evidence.sha256 = digest.sha256
                    report.bytes += file.size
                }
            }
        }
        if download.state == .completed, download.fileMissing, evidence.file == nil { report.missing += 1 }
        let inspection = RecordInspection(record: record, evidence: evidence)
        let fault = inspection.fault
        if let fault { note(fault, &report, onFault) }
        guard repairs else { return }
        let repaired = inspection.repaired(at: .now())
        guard fault != nil || repaired.download.file != download.file else { return }
        // The record is saved first: a crash in between leaves a file too many rather than a wrong record.
        try writer.commit([.save(repaired)])
        if fault?.kind == .wrongFile, let path = download.path { try setAside(path) }
        if fault != nil { report.repaired += 1 }
    }

    /// Moves a finished file to `damaged`, never over another file.
    private func setAside(_ path: FilePath) throws(FileError) {
        try describing("move", "files/\(path)") { () throws(SystemError) in
            let top = directory.downloadsTop
            try top.makeDirectory("damaged")
            let damaged = try top.openDirectory("damaged")
            var target = path.name
            var number = 2
            while try damaged.status(of: target) != nil {
                target = FileNaming.numbered(path.name, number)
                number += 1
            }
            var folder = directory.files
            for name in FileNaming.names(ofFolder: path.folder) { folder = try folder.openDirectory(name) }
            do throws(SystemError) {
                try folder.renameExclusively(path.name, to: damaged, as: target)
            } catch {
                guard error.leavesOtherWays else { throw error }
                // The name was free a moment ago, and this process holds the lock of the directory.
                try folder.rename(path.name, to: damaged, as: target)
            }
            try damaged.synchronize()
            try folder.synchronize()
        }
    }

    private func checkOrphans(
        _ records: [DownloadRecord], _ refused: [RefusedRow], _ repairs: Bool, _ report: inout DirectoryReport,
        _ onFault: (DirectoryFault) -> Void
    ) throws(FileError) {
        let live = Set(records.filter { $0.download.state != .completed }.map(\.id) + refused.compactMap(\.id))
        let found = try partFiles.orphans(keeping: { id, _ in live.contains(id) })
        for name in found.own.sorted() {
            note(DirectoryFault(.orphan, nil, "incomplete/\(name) belongs to no download"), &report, onFault)
        }
        report.foreign = found.foreign.sorted()
        guard repairs else { return }
        try partFiles.removeOrphans(keeping: { id, _ in live.contains(id) })
        report.repaired += found.own.count
    }

    private func note(_ fault: DirectoryFault, _ report: inout DirectoryReport, _ onFault: (DirectoryFault) -> Void) {
        report.faults.append(fault)
        onFault(fault)
    }
}

extension DownloadsStartError {
    fileprivate init(_ error: any Error) {
        switch error {
        case let error as SQLiteError: self.init(error.storeError.description)
        case let error as FileError: self.init(error.message)
        default: self.init("\(error)")
        }
    }
}
