/// A block of addresses with a common prefix (CIDR, RFC 4632): all addresses that have the first `length` bits of
/// `base`.
///
/// A block of IPv4-mapped addresses becomes the block of their IPv4 addresses: `::ffff:10.0.0.0/104` is `10.0.0.0/8`.
public struct AddressBlock: Sendable, Hashable {
    /// An address of the block.
    public let base: IPAddress
    /// The number of fixed leading bits: 0…32 or 0…128.
    public let length: Int

    /// Creates the block of addresses that have the first `length` bits of `base`. `length` is 0…``IPAddress/width``.
    /// An IPv4-mapped `base` with at least 96 bits becomes a block of IPv4 with 96 bits less.
    public init(base: IPAddress, length: Int) {
        let length = min(max(length, 0), base.width)
        let unmapped = base.unmapped
        let isMapped = unmapped != base && length >= 96
        self.base = isMapped ? unmapped : base
        self.length = isMapped ? length - 96 : length
    }

    /// Parses a block such as `10.0.0.0/8`, or an address, which is a block of one. Nil for anything else, including a
    /// base with bits after its prefix.
    public init?(parsing text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress(parsing: $0) }) else { return nil }
        var length = address.width
        if parts.count > 1 {
            let digits = parts[1].utf8
            guard (1...3).contains(digits.count), digits.allSatisfy(ASCII.isDigit), digits.count == 1 || parts[1].first != "0",
                let number = Int(parts[1]), number <= address.width
            else { return nil }
            length = number
        }
        self.init(base: address, length: length)
        guard first == base else { return nil }
    }

    /// Whether the address is in the block. Only addresses of one family match, so IPv4-mapped addresses must be
    /// unmapped first.
    public func contains(_ address: IPAddress) -> Bool {
        switch (base, address) {
        case (.v4(let base), .v4(let bits)): (base ^ bits) >> UInt32(32 - length) == 0
        case (.v6(let base), .v6(let bits)): (base ^ bits) >> UInt128(128 - length) == 0
        default: false
        }
    }

    /// The block's first address: `base` with all bits after the prefix zero.
    public var first: IPAddress {
        switch base {
        case .v4(let bits): .v4(bits & ~(UInt32.max >> UInt32(length)))
        case .v6(let bits): .v6(bits & ~(UInt128.max >> UInt128(length)))
        }
    }
}
