import HTTPCore
import Testing

@testable import DownloadCore

struct ValidatorTests {
    private static let modified: FieldValue = "Sat, 21 Nov 2026 09:00:00 GMT"

    @Test(
        "Only a proof of identity byte for byte is sent in If-Range",
        arguments: [
            (SavedEntity(etag: #""v1""#), #""v1""#),
            (SavedEntity(etag: #""v1""#, lastModified: modified, date: "Sat, 21 Nov 2026 10:00:00 GMT"), #""v1""#),
            // A weak tag is no validator, and excludes the date beside it from If-Range.
            (SavedEntity(etag: #"W/"v1""#), nil),
            (SavedEntity(etag: #"W/"v1""#, lastModified: modified, date: "Sat, 21 Nov 2026 10:00:00 GMT"), nil),
            // An invalid tag counts as missing.
            (SavedEntity(etag: "v1"), nil),
            (SavedEntity(etag: "v1", lastModified: modified, date: "Sat, 21 Nov 2026 10:00:00 GMT"), nil),
            // A date is strong two seconds after it, and so is the tag beside it.
            (SavedEntity(lastModified: modified, date: "Sat, 21 Nov 2026 09:00:02 GMT"), modified),
            (SavedEntity(lastModified: modified, date: "Sat, 21 Nov 2026 09:00:01 GMT"), nil),
            (SavedEntity(etag: #""v1""#, lastModified: modified, date: "Sat, 21 Nov 2026 09:00:02 GMT"), #""v1""#),
            (SavedEntity(etag: #""v1""#, lastModified: modified, date: "Sat, 21 Nov 2026 09:00:01 GMT"), nil),
            (SavedEntity(etag: #""v1""#, lastModified: modified, date: "Sat, 21 Nov 2026 08:00:00 GMT"), nil),
            (SavedEntity(etag: #""v1""#, lastModified: modified), #""v1""#),
            (SavedEntity(lastModified: modified, date: modified.latin1), nil),
            (SavedEntity(lastModified: modified, date: "Sat, 21 Nov 2026 08:00:00 GMT"), nil),
            (SavedEntity(lastModified: modified), nil),
            (SavedEntity(lastModified: modified, date: "yesterday"), nil),
            (SavedEntity(lastModified: "yesterday", date: modified.latin1), nil),
            // The coding is the file's own.
            (SavedEntity(etag: #""v1""#, coding: "gzip"), #""v1""#),
            (SavedEntity(), nil),
        ] as [(SavedEntity, FieldValue?)])
    func onlyStrongProofIsInIfRange(_ entity: SavedEntity, _ expected: FieldValue?) {
        #expect(Validator(of: entity)?.fieldValue == expected)
    }

    @Test(
        "An old date beside a weak or malformed tag is a validator if the length is known", arguments: [#"W/"v1""#, "v1"],
        [100, nil] as [Int64?])
    func dateBesideTag(_ etag: FieldValue, _ total: Int64?) {
        var entity = SavedEntity(etag: etag, lastModified: Self.modified, date: "Sat, 21 Nov 2026 09:00:02 GMT", total: total)
        #expect(Validator(of: entity) == (total == nil ? nil : .dateBesideTag))
        entity.date = "Sat, 21 Nov 2026 09:00:01 GMT"
        #expect(Validator(of: entity) == nil)
    }
}
