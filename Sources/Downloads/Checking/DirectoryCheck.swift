internal import HTTPCore

/// Compares the records of a data directory with its files, and mends what can be mended without the network.
///
/// It holds the directory while it lives, so that no service works on it meanwhile. A record file of an older release is brought to
/// this release's shape, as a service would.
public final class DirectoryCheck {
    private let directory: DataDirectory
    private let connection: SQLiteConnection
    private let writer: StoreWriter

    /// Takes the directory.
    /// - Throws: one clear line if there is none, if it is in use, or if its records cannot be read at all.
    public init(path: String) throws(DownloadsStartError) {
        // A misspelt path must not become a new directory.
        guard FileSystem.status(of: path + "/pawl.sqlite") != nil else {
            throw DownloadsStartError("\(path) is no data directory: it has no pawl.sqlite")
        }
        do {
            directory = try DataDirectory(path: path)
            try directory.prepareDatabaseFile()
            connection = try SQLiteConnection(path: directory.databasePath)
            try StoreSchema.prepare(connection, path: directory.databasePath)
            writer = try StoreWriter(connection)
        } catch let error as StoreError {
            throw DownloadsStartError(error.description)
        } catch let error as SQLiteError {
            throw DownloadsStartError(error.storeError.description)
        } catch {
            throw DownloadsStartError("\(error)")
        }
    }

    /// Looks at everything.
    /// - Parameters:
    ///   - mending: whether what is wrong is mended, as far as that is possible.
    ///   - told: called with each fault as it is found.
    /// - Throws: one clear line if something cannot be read or written.
    public func run(
        mending: Bool, told: (DirectoryFault) -> Void = { _ in }
    ) throws(DownloadsStartError) -> DirectoryReport {
        var report = DirectoryReport()
        do {
            try checkRecordFile(&report, told)
            // What a damaged file tells is no ground to change anything on.
            let mends = mending && report.faults.isEmpty
            let records = try writer.load().records
            for record in records { try check(record, mends, &report, told) }
            try checkOrphans(records, mends, &report, told)
        } catch let error as StoreError {
            throw DownloadsStartError(error.description)
        } catch let error as SQLiteError {
            throw DownloadsStartError(error.storeError.description)
        } catch let error as FileError {
            throw DownloadsStartError(error.message)
        } catch {
            throw DownloadsStartError("\(error)")
        }
        return report
    }

    private func checkRecordFile(_ report: inout DirectoryReport, _ told: (DirectoryFault) -> Void) throws(SQLiteError) {
        let rows = try connection.prepare("PRAGMA integrity_check(10)")
        while try rows.step() {
            guard let line = rows.text(0), line != "ok" else { continue }
            note(DirectoryFault(.damagedRecords, nil, "pawl.sqlite: \(line)"), &report, told)
        }
    }

    private func check(
        _ record: DownloadRecord, _ mends: Bool, _ report: inout DirectoryReport, _ told: (DirectoryFault) -> Void
    ) throws {
        report.records += 1
        let file = record.download.filename.map { directory.file($0) }
        var evidence = RecordInspection.Evidence(part: FileSystem.status(of: directory.part(record.id)))
        if record.download.state == .completed { evidence.file = file.flatMap { FileSystem.status(of: $0) } }
        if let file, let status = evidence.file {
            report.files += 1
            if RecordInspection(record: record, evidence: evidence).needsHash {
                var digest = FileDigest()
                try PartFile(reading: file).hash(upTo: status.size, into: &digest)
                evidence.sha256 = digest.hexadecimal
                report.bytes += status.size
            }
        }
        if record.download.state == .completed, record.download.fileMissing, evidence.file == nil { report.missing += 1 }
        let inspection = RecordInspection(record: record, evidence: evidence)
        guard let fault = inspection.fault else { return }
        note(fault, &report, told)
        guard mends else { return }
        // First the record: a crash in between leaves a file too many rather than a record that lies.
        try writer.commit([.save(inspection.mended(at: .now()))])
        if fault.kind == .wrongFile, let name = record.download.filename { try setAside(name) }
        report.mended += 1
    }

    /// Moves a finished file out of the way, never over another.
    private func setAside(_ name: String) throws(FileError) {
        let place = directory.path + "/damaged"
        try FileSystem.makeDirectory(place)
        var target = name
        var number = 2
        while FileSystem.exists("\(place)/\(target)") {
            target = FileNaming.numbered(name, number)
            number += 1
        }
        try FileSystem.replace("\(place)/\(target)", with: directory.file(name))
        try FileSystem.synchronize(place)
        try FileSystem.synchronize(directory.filesPath)
    }

    private func checkOrphans(
        _ records: [DownloadRecord], _ mends: Bool, _ report: inout DirectoryReport, _ told: (DirectoryFault) -> Void
    ) throws(FileError) {
        let live = Set(records.filter { $0.download.state != .completed }.map(\.id))
        for name in try FileSystem.entries(of: directory.incompletePath).sorted() {
            let id = name.hasSuffix(".part") ? DownloadID(String(name.dropLast(5))) : nil
            if let id, live.contains(id) { continue }
            note(DirectoryFault(.orphan, nil, "incomplete/\(name) belongs to no download"), &report, told)
            guard mends else { continue }
            try FileSystem.remove("\(directory.incompletePath)/\(name)")
            report.mended += 1
        }
    }

    private func note(_ fault: DirectoryFault, _ report: inout DirectoryReport, _ told: (DirectoryFault) -> Void) {
        report.faults.append(fault)
        told(fault)
    }
}
