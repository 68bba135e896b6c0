internal import Glibc

/// The network interfaces of this machine, as the system knows them at the moment.
public enum NetworkInterfaces {
    /// An address of an interface.
    public struct Address: Sendable, Equatable {
        /// The interface's name, such as `eth0`.
        public let interface: String
        /// The address in network order: 4 or 16 bytes.
        public let bytes: [UInt8]
        /// How many leading bits of it name the network it is in.
        public let prefixLength: Int
        /// The address at the other end, if the link has only two.
        public let peer: [UInt8]?
        /// Whether the link has only two ends, such as a tunnel's.
        public let isPointToPoint: Bool
    }

    /// All addresses of all interfaces: getifaddrs(3), which asks the kernel and waits for nothing else.
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
                    // The same field holds the broadcast address of other links.
                    peer: isPointToPoint ? unsafe Self.bytes(entry.pointee.ifa_ifu.ifu_dstaddr) : nil,
                    isPointToPoint: isPointToPoint))
        }
        return addresses
    }

    /// The table of IPv4 routes as the kernel writes it (proc_net(5)), for the namespace of this thread; its first MiB.
    public static func routesV4() throws(SmallFile.Failure) -> [UInt8] {
        try SmallFile.read("/proc/thread-self/net/route", limit: 1 << 20)
    }

    /// The table of IPv6 routes in the same way.
    public static func routesV6() throws(SmallFile.Failure) -> [UInt8] {
        try SmallFile.read("/proc/thread-self/net/ipv6_route", limit: 1 << 20)
    }

    /// The tables of IPv4 routes as the kernel keeps them, a trie, in the same way. It is longer, but has what ``routesV4()`` has not: the
    /// routes to this machine itself, of which those that an operator or a cloud's agent has added belong to no interface's address.
    ///
    /// Of a router with some ten thousand routes the first MiB may end before those: then the addresses of its interfaces have to do.
    public static func trieV4() throws(SmallFile.Failure) -> [UInt8] {
        try SmallFile.read("/proc/thread-self/net/fib_trie", limit: 1 << 20)
    }

    /// The address within a socket address; nil for families other than the two of the Internet.
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
