import CCurl
import CSystem
import Glibc
import HTTPCore

/// The functions that libcurl calls, on the thread that drives it. The context of each is the ``ActiveTransfer``. The
/// driver keeps that alive as long as libcurl refers to it.
enum TransferCallbacks {
    static let write: pawl_curl_write = { bytes, _, count, context in
        guard let transfer = unsafe active(context), let bytes = unsafe bytes else { return 0 }
        let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        return switch unsafe transfer.receivedBody(buffer.bytes) {
        case .taken: count
        case .heldBack: Int(CURL_WRITEFUNC_PAUSE)
        // Any number other than `count` ends the transfer. 0 always differs, since no piece is empty.
        case .ended: 0
        }
    }

    static let header: pawl_curl_write = { bytes, _, count, context in
        guard let transfer = unsafe active(context), let bytes = unsafe bytes else { return 0 }
        let isTaken = unsafe bytes.withMemoryRebound(to: UInt8.self, capacity: count) { bytes in
            unsafe transfer.receivedLine(UnsafeBufferPointer(start: bytes, count: count).span)
        }
        return isTaken ? count : 0
    }

    static let read: pawl_curl_read = { bytes, size, count, context in
        guard let transfer = unsafe active(context), let bytes = unsafe bytes else { return Int(CURL_READFUNC_ABORT) }
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
        return unsafe transfer.readContent(into: buffer) ?? Int(CURL_READFUNC_ABORT)
    }

    static let seek: pawl_curl_seek = { context, offset, origin in
        guard let transfer = unsafe active(context), origin == SEEK_SET, transfer.seekContent(to: offset) else {
            return Int32(CURL_SEEKFUNC_FAIL)
        }
        return Int32(CURL_SEEKFUNC_OK)
    }

    static let openSocket: pawl_curl_open_socket = { context, _, address in
        guard let transfer = unsafe active(context), let address = unsafe address,
            transfer.admits(unsafe IPAddress(unsafe address))
        else { return Int32(CURL_SOCKET_BAD) }
        let number = unsafe pawl_socket(address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        if number >= 0 { transfer.opened(number) } else { transfer.lacksDescriptor = errno == EMFILE || errno == ENFILE }
        return number
    }

    /// Its context is the ``TransferDriver``, since connections outlive transfers.
    static let closeSocket: pawl_curl_close_socket = { context, socket in
        if let context = unsafe context {
            unsafe Unmanaged<TransferDriver>.fromOpaque(context).takeUnretainedValue().connections.closed(socket)
        }
        return close(socket)
    }

    static let prerequest: pawl_curl_prerequest = { context, primaryAddress, localAddress, primaryPort, localPort in
        guard let transfer = unsafe active(context), let primaryAddress = unsafe primaryAddress else {
            return Int32(CURL_PREREQFUNC_ABORT)
        }
        let remote = IPAddress(parsing: unsafe String(cString: primaryAddress))
        let local = unsafe localAddress.flatMap { IPAddress(parsing: unsafe String(cString: $0)) }
        var endpoints: ConnectionSockets.Endpoints?
        if let remote, let local {
            endpoints = .init(local: local, localPort: localPort, remote: remote, remotePort: primaryPort)
        }
        return Int32(transfer.connected(to: remote, endpoints) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT)
    }

    private static func active(_ context: UnsafeMutableRawPointer?) -> ActiveTransfer? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<ActiveTransfer>.fromOpaque(context).takeUnretainedValue()
    }
}

extension IPAddress {
    /// The address that libcurl is about to connect to; nil for families other than IPv4 and IPv6.
    init?(_ address: UnsafeMutablePointer<pawl_curl_sockaddr>) {
        let length = unsafe Int(address.pointee.addrlen)
        guard let offset = MemoryLayout<pawl_curl_sockaddr>.offset(of: \.addr) else { return nil }
        let raw = unsafe UnsafeRawPointer(address) + offset
        switch unsafe address.pointee.family {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            let bits = unsafe raw.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr
            self = .v4(UInt32(bigEndian: bits))
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            guard let offset = MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) else { return nil }
            self = .v6(UInt128(bigEndian: unsafe (raw + offset).loadUnaligned(as: UInt128.self)))
        default:
            return nil
        }
    }
}
