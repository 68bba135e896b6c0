import Testing

@testable import HTTPCore

/// The bit masks against their definitions in words.
@Suite struct ByteSetTests {
    static let alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    static let visible = String(decoding: (0x21...0x7E).map { UInt8($0) }, as: UTF8.self)

    static let sets: [(String, ByteSet, String, Bool)] = [
        ("token", .token, alphanumeric + "!#$%&'*+-.^_`|~", false),
        ("fieldValue", .fieldValue, visible + " \t", true),
        ("quotedText", .quotedText, visible.filter { $0 != "\"" && $0 != "\\" } + " \t", true),
        ("entityTag", .entityTag, visible.filter { $0 != "\"" }, true),
        ("requestTarget", .requestTarget, visible.filter { !"\"#<>".contains($0) }, false),
        ("sentTarget", .sentTarget, visible.filter { !"#<>".contains($0) }, true),
        ("registeredName", .registeredName, alphanumeric + "-._~!$&'()*+,;=", false),
        ("unreserved", .unreserved, alphanumeric + "-._~", false),
        ("extendedParameter", .extendedParameter, alphanumeric + "!#$&+-.^_`|~", false),
        ("formText", .formText, alphanumeric + "*-._", false),
        ("path", .path, alphanumeric + "-._~!$&'()*+,;=:@/%", false),
    ]

    @Test("A set contains the bytes of its definition", arguments: sets)
    func aSetContainsItsDefinition(name: String, set: ByteSet, ascii: String, hasObsoleteText: Bool) {
        for byte in UInt8.min...UInt8.max {
            let isMember = byte < 0x80 ? ascii.utf8.contains(byte) : hasObsoleteText
            #expect(set.contains(byte) == isMember, "\(name): \(byte)")
        }
    }
}
