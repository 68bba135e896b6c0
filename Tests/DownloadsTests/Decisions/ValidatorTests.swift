import HTTPCore
import Testing

@testable import DownloadCore

struct ValidatorTests {
    private static let modified: FieldValue = "Sat, 21 Nov 2026 09:00:00 GMT"

    @Test(
        "Only a proof of identity byte for byte is a validator",
        arguments: [
            (SavedEntity(etag: #""v1""#), #""v1""#),
            (SavedEntity(etag: #""v1""#, lastModified: modified, date: "Sat, 21 Nov 2026 10:00:00 GMT"), #""v1""#),
            // A weak tag is no validator, and excludes the date beside it.
            (SavedEntity(etag: #"W/"v1""#), nil),
            (SavedEntity(etag: #"W/"v1""#, lastModified: modified, date: "Sat, 21 Nov 2026 10:00:00 GMT"), nil),
            // An invalid tag counts as missing.
            (SavedEntity(etag: "v1"), nil),
            (SavedEntity(etag: "v1", lastModified: modified, date: "Sat, 21 Nov 2026 10:00:00 GMT"), modified),
            // A date is strong a minute after it.
            (SavedEntity(lastModified: modified, date: "Sat, 21 Nov 2026 09:01:00 GMT"), modified),
            (SavedEntity(lastModified: modified, date: "Sat, 21 Nov 2026 09:00:59 GMT"), nil),
            (SavedEntity(lastModified: modified, date: modified.latin1), nil),
            (SavedEntity(lastModified: modified, date: "Sat, 21 Nov 2026 08:00:00 GMT"), nil),
            (SavedEntity(lastModified: modified), nil),
            (SavedEntity(lastModified: modified, date: "yesterday"), nil),
            (SavedEntity(lastModified: "yesterday", date: modified.latin1), nil),
            // The coding is the file's own.
            (SavedEntity(etag: #""v1""#, coding: "gzip"), #""v1""#),
            (SavedEntity(), nil),
        ] as [(SavedEntity, FieldValue?)])
    func onlyStrongProofIsValidator(_ entity: SavedEntity, _ expected: FieldValue?) {
        #expect(Validator(of: entity)?.fieldValue == expected)
    }
}
