internal import Glibc

extension SocketAddress {
    /// The address in a `sockaddr`; nil if it is neither IPv4 nor IPv6. An IPv4 client of an IPv6 socket shows as IPv4.
    init?(_ storage: sockaddr_storage) {
        var storage = storage
        switch Int32(storage.ss_family) {
        case AF_INET:
            let address = unsafe withUnsafePointer(to: &storage) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { unsafe $0.pointee }
            }
            // By hand: each connection has one, and a dotted quad needs no storage of its own.
            self.init(
                host: Self.dottedQuad(UInt32(bigEndian: address.sin_addr.s_addr)), port: Int(UInt16(bigEndian: address.sin_port)))
        case AF_INET6:
            let address = unsafe withUnsafePointer(to: &storage) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { unsafe $0.pointee }
            }
            var ip = address.sin6_addr
            guard var host = unsafe Self.text(AF_INET6, &ip) else { return nil }
            if host.hasPrefix("::ffff:"), host.utf8.contains(UInt8(ascii: ".")) { host.removeFirst(7) }
            self.init(host: host, port: Int(UInt16(bigEndian: address.sin6_port)))
        default:
            return nil
        }
    }

    private static func dottedQuad(_ address: UInt32) -> String {
        unsafe String(unsafeUninitializedCapacity: 15) { bytes in
            var count = 0
            func put(_ byte: UInt8) {
                unsafe bytes[count] = byte
                count += 1
            }
            for index in 0..<4 {
                let part = UInt8(truncatingIfNeeded: address >> UInt32(24 - 8 * index))
                if index > 0 { put(UInt8(ascii: ".")) }
                if part >= 100 { put(0x30 + part / 100) }
                if part >= 10 { put(0x30 + part / 10 % 10) }
                put(0x30 + part % 10)
            }
            return count
        }
    }

    private static func text(_ family: Int32, _ address: UnsafeRawPointer) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard unsafe inet_ntop(family, address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
