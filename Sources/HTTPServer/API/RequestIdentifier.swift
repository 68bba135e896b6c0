internal import HTTPCore

/// The identifier of a request in logs and in its response's `X-Request-Id`.
public enum RequestIdentifier: Sendable, Hashable {
    /// The client's identifier: 1–128 letters, digits and `-_.:/+=`.
    case sent(String)
    /// The server's identifier: 64 bits, written as 13 characters of base 32.
    case made(UInt64)

    /// Creates the client's identifier; nil if it sent none, or one with characters that could falsify a log.
    init?(sentIn fields: borrowing Fields) {
        guard let bytes = fields.bytes(.xRequestId), !bytes.isEmpty, bytes.count <= 128 else { return nil }
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "+"),
                UInt8(ascii: "="):
                continue
            default: return nil
            }
        }
        self = .sent(String(decoding: bytes, as: UTF8.self))
    }

    /// Appends the identifier's text.
    func encode(into bytes: inout [UInt8]) {
        switch self {
        case .sent(let name): bytes.append(contentsOf: name.utf8)
        case .made(var bits):
            bytes.append(addingCapacity: 13) { output in
                for _ in 0..<13 {
                    let digit = UInt8(truncatingIfNeeded: bits & 31)
                    output.append(digit < 10 ? 0x30 + digit : 0x61 + digit - 10)
                    bits >>= 5
                }
            }
        }
    }
}

extension RequestIdentifier: CustomStringConvertible {
    /// The identifier's text.
    public var description: String {
        var bytes: [UInt8] = []
        encode(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
