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
            var ip = address.sin_addr
            guard let host = unsafe Self.text(AF_INET, &ip) else { return nil }
            self.init(host: host, port: Int(UInt16(bigEndian: address.sin_port)))
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

    private static func text(_ family: Int32, _ address: UnsafeRawPointer) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard unsafe inet_ntop(family, address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
