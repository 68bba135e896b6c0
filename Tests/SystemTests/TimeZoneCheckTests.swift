import Foundation
import TestSupport
import Testing

@testable import System

@Suite("The variable TZ")
struct TimeZoneCheckTests {
    @Test(
        "Accepts names of zone files and rules only",
        arguments: [
            ("", true), ("UTC", true), ("GMT", true), (":UTC", true), ("Here/There", true), (":Here/There", true),
            ("CET-1CEST", true), ("CET-1CEST,M3.5.0,M10.5.0/3", true), ("UTC0", true), ("<+03>-3", true), ("<-0130>1:30", true),
            ("Here/Ther", false), ("Here", false), ("here/there", false), ("CEST", false), ("CET+", false), ("CE-1", false),
            ("<+03", false), ("Here/Nothing", false), ("../etc", false), (":", true),
        ])
    func values(value: String, isTaken: Bool) throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.path + "/Here", withIntermediateDirectories: false)
        try Data("TZif2".utf8).write(to: URL(filePath: directory.path + "/Here/There"))
        try Data("nothing".utf8).write(to: URL(filePath: directory.path + "/Here/Nothing"))
        let objection = TimeZoneCheck.objection(to: value, directory: directory.path)
        #expect((objection == nil) == isTaken)
        if let objection {
            #expect(objection.hasPrefix("TZ=\(value) is not a time zone on this machine: TZ takes a name such as Europe/Berlin"))
            #expect(objection.contains(directory.path))
        }
        #expect((TimeZoneCheck.objection(to: "\(directory.path)/Here/There", directory: "/nowhere")) == nil)
    }
}
