import Testing

@testable import Downloads
@testable import CommandLine

@Suite("The summary of pawl check")
struct CheckSummaryTests {
    @Test(
        "Counts records, files, faults and files known to be missing",
        arguments: [
            (0, 0, 0, "3 records, 2 finished files (0 B hashed): no faults"),
            (1, 0, 0, "3 records, 2 finished files (0 B hashed), 1 more file known to be missing: no other faults"),
            (2, 1, 1, "3 records, 2 finished files (0 B hashed), 2 more files known to be missing: 1 fault, all repaired"),
            (0, 1, 0, "3 records, 2 finished files (0 B hashed): 1 fault"),
        ])
    func summary(missing: Int, faults: Int, repaired: Int, text: String) {
        var report = DirectoryReport()
        report.records = 3
        report.files = 2
        report.missing = missing
        report.faults = Array(repeating: DirectoryFault(.damagedRecords, nil, "x"), count: faults)
        report.repaired = repaired
        #expect(CheckCommand.summary(of: report, false) == text)
    }
}
