import Testing

@testable import Downloads

struct ValidatorTests {
    private static let modified = "Sat, 21 Nov 2026 09:00:00 GMT"

    @Test(
        "only what proves identity byte for byte is a validator",
        arguments: [
            (SavedEntity(etag: #""v1""#), #""v1""#),
            (SavedEntity(etag: #""v1""#, lastModified: modified, date: "Sat, 21 Nov 2026 10:00:00 GMT"), #""v1""#),
            // A weak tag does not do, and rules out the date beside it.
            (SavedEntity(etag: #"W/"v1""#), nil),
            (SavedEntity(etag: #"W/"v1""#, lastModified: modified, date: "Sat, 21 Nov 2026 10:00:00 GMT"), nil),
            // What is not a tag at all is as if there were none.
            (SavedEntity(etag: "v1"), nil),
            (SavedEntity(etag: "v1", lastModified: modified, date: "Sat, 21 Nov 2026 10:00:00 GMT"), modified),
            // A date is strong a minute after it.
            (SavedEntity(lastModified: modified, date: "Sat, 21 Nov 2026 09:01:00 GMT"), modified),
            (SavedEntity(lastModified: modified, date: "Sat, 21 Nov 2026 09:00:59 GMT"), nil),
            (SavedEntity(lastModified: modified, date: modified), nil),
            (SavedEntity(lastModified: modified, date: "Sat, 21 Nov 2026 08:00:00 GMT"), nil),
            (SavedEntity(lastModified: modified), nil),
            (SavedEntity(lastModified: modified, date: "yesterday"), nil),
            (SavedEntity(lastModified: "yesterday", date: modified), nil),
            // Under a coding, nothing vouches for the bytes.
            (SavedEntity(etag: #""v1""#, coding: "gzip"), nil),
            (SavedEntity(), nil),
        ] as [(SavedEntity, String?)])
    func onlyStrongProofIsValidator(_ entity: SavedEntity, _ expected: String?) {
        #expect(Validator(of: entity)?.fieldValue == expected)
    }
}
