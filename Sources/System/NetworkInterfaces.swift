internal import Glibc

/// The network interfaces of this machine at the time of the call.
public enum NetworkInterfaces {
    /// An address of an interface.
    public struct Address: Sendable, Equatable {
        /// The interface's name, such as `eth0`.
        public let interface: String
        /// The address in network order: 4 or 16 bytes.
        public let bytes: [UInt8]
        /// The number of leading bits that identify the network.
        public let prefixLength: Int
        /// The peer's address, if the link is point-to-point.
        public let peer: [UInt8]?
        /// Whether the link has only two ends, such as a tunnel.
        public let isPointToPoint: Bool
    }

    /// The addresses of all interfaces (getifaddrs(3)). The call waits for nothing but the kernel.
    public static func addresses() throws(SystemError) -> [Address] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { throw .last }
        defer { unsafe freeifaddrs(list) }
        var addresses: [Address] = []
        var next = unsafe list
        while let entry = unsafe next {
            unsafe next = entry.pointee.ifa_next
            guard let bytes = unsafe Self.bytes(entry.pointee.ifa_addr), let name = unsafe entry.pointee.ifa_name else {
                continue
            }
            let isPointToPoint = unsafe entry.pointee.ifa_flags & UInt32(IFF_POINTOPOINT) != 0
            let mask = unsafe Self.bytes(entry.pointee.ifa_netmask)
            addresses.append(
                Address(
                    interface: unsafe String(cString: name), bytes: bytes,
                    prefixLength: mask.map(leadingOnes) ?? bytes.count * 8,
                    // On other links, the same field holds the broadcast address.
                    peer: isPointToPoint ? unsafe Self.bytes(entry.pointee.ifa_ifu.ifu_dstaddr) : nil,
                    isPointToPoint: isPointToPoint))
        }
        return addresses
    }

    /// The IPv4 routes as text from the kernel (proc_net(5)), for this thread's network namespace; at most 1 MiB.
    public static func routesV4() throws(SmallFile.Failure) -> [UInt8] {
        try SmallFile.read("/proc/thread-self/net/route", limit: 1 << 20)
    }

    /// The IPv6 routes as text from the kernel, for this thread's network namespace; at most 1 MiB.
    public static func routesV6() throws(SmallFile.Failure) -> [UInt8] {
        try SmallFile.read("/proc/thread-self/net/ipv6_route", limit: 1 << 20)
    }

    /// The tries of IPv4 routes as text from the kernel, for this thread's network namespace; at most 1 MiB.
    ///
    /// Unlike ``routesV4()``, they contain the routes to this machine itself. Routes that an operator or a cloud's
    /// agent has added may belong to no interface's address.
    ///
    /// On a router with some ten thousand routes, the limit may cut those off. Then only the addresses of its
    /// interfaces are known.
    public static func trieV4() throws(SmallFile.Failure) -> [UInt8] {
        try SmallFile.read("/proc/thread-self/net/fib_trie", limit: 1 << 20)
    }

    /// The address in a socket address; `nil` for families other than IPv4 and IPv6.
    private static func bytes(_ address: UnsafeMutablePointer<sockaddr>?) -> [UInt8]? {
        guard let address = unsafe address else { return nil }
        let raw = UnsafeRawPointer(address)
        switch unsafe Int32(address.pointee.sa_family) {
        case AF_INET:
            var address = unsafe raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            return unsafe withUnsafeBytes(of: &address) { unsafe Array($0) }
        case AF_INET6:
            var address = unsafe raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return unsafe withUnsafeBytes(of: &address) { unsafe Array($0) }
        default: return nil
        }
    }

    private static func leadingOnes(_ mask: [UInt8]) -> Int {
        var count = 0
        for byte in mask {
            count += (~byte).leadingZeroBitCount
            if byte != 0xff { break }
        }
        return count
    }
}
