internal import Glibc
internal import HTTPCore

extension SocketAddress {
    /// Creates an address from a `sockaddr`; nil if it is not of IPv4, IPv6 or a Unix socket. An IPv4 client of an IPv6
    /// socket has its IPv4 address.
    init?(_ storage: sockaddr_storage) {
        var storage = storage
        switch Int32(storage.ss_family) {
        case AF_INET:
            let address = unsafe withUnsafePointer(to: &storage) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { unsafe $0.pointee }
            }
            self.init(.v4(UInt32(bigEndian: address.sin_addr.s_addr)), networkPort: address.sin_port)
        case AF_INET6:
            let address = unsafe withUnsafePointer(to: &storage) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { unsafe $0.pointee }
            }
            let bits = unsafe withUnsafeBytes(of: address.sin6_addr) { unsafe $0.loadUnaligned(as: UInt128.self) }
            self.init(.v6(UInt128(bigEndian: bits)), networkPort: address.sin6_port)
        case AF_UNIX: self = .unixSocket
        default:
            return nil
        }
    }

    private init(_ address: IPAddress, networkPort: in_port_t) {
        self.init(host: address.unmapped.description, port: Int(UInt16(bigEndian: networkPort)))
    }
}
