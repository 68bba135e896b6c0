// Writes records of new downloads, each its own change, and prints how long that took and what it cost this process:
//
//     store-benchmark sqlite DIRECTORY | postgres CONNECTION  WRITERS RECORDS
//
// Built and run by Benchmarks/fleet_store.py.

import Foundation

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadFiles
@testable import DownloadStore
@testable import DownloadTransfer
@testable import Downloads

func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(2)
}

let arguments = CommandLine.arguments
guard arguments.count == 5, let writers = Int(arguments[3]), let count = Int(arguments[4]), writers > 0 else {
    fail("usage: store-benchmark sqlite DIRECTORY | postgres CONNECTION  WRITERS RECORDS")
}

/// Seconds of processor time of this process.
func processorTime() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// A new download that does not wait for a turn.
func record(_ number: Int) -> DownloadRecord {
    let id = RecordID(value: UInt128(1_763_717_520_000) << 80 | UInt128(number))
    return DownloadRecord(
        Download(id: id, url: "https://example.com/files/\(number).bin", state: .paused, createdAt: id.createdAt))
}

let store: any RecordStore
if arguments[1] == "postgres" {
    let fleet = try FleetStore(PostgresRecordWriter.Options(database: arguments[2], node: "benchmark"))
    _ = try fleet.load()
    try fleet.start(FleetStore.Callbacks(changed: { _ in }, received: { _, _ in }, fenced: {}, settingsChanged: {}))
    store = fleet
} else {
    store = try GroupCommitStore(DataDirectory(path: arguments[2]))
    _ = try store.load()
}
// Statements are prepared by the first.
try await store.submit([.add(record(count))]).wait()
let records = (0..<count).map(record)
let (begun, before) = (ContinuousClock.now, processorTime())
await withTaskGroup { group in
    for writer in 0..<writers {
        group.addTask {
            for number in stride(from: writer, to: count, by: writers) {
                if let error = await store.submit([.add(records[number])]).failure() { fail("\(error)") }
            }
        }
    }
}
let (wall, spent) = ((ContinuousClock.now - begun) / .seconds(1), processorTime() - before)
print("\(wall) \(spent)")
await store.close()
