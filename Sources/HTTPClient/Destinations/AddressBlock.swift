import HTTPCore

/// A block of addresses that share a prefix (CIDR, RFC 4632): all addresses of `base`'s family whose first `length` bits are
/// those of `base`.
struct AddressBlock: Sendable, Hashable {
    let base: IPAddress
    /// How many leading bits are fixed: 0…32 or 0…128.
    let length: Int

    /// Whether the address is in the block. Families never mix: an IPv4-mapped address is to be unmapped first.
    func contains(_ address: IPAddress) -> Bool {
        switch (base, address) {
        case (.v4(let base), .v4(let bits)): (base ^ bits) >> UInt32(32 - length) == 0
        case (.v6(let base), .v6(let bits)): (base ^ bits) >> UInt128(128 - length) == 0
        default: false
        }
    }

    /// `base` with all bits after the prefix zero.
    var first: IPAddress {
        switch base {
        case .v4(let bits): .v4(bits & ~(UInt32.max >> UInt32(length)))
        case .v6(let bits): .v6(bits & ~(UInt128.max >> UInt128(length)))
        }
    }
}
