internal import JSON

/// The members of a status that a client requests.
struct StatusKeys: OptionSet, Sendable, Equatable {
    let rawValue: UInt32

    static let bitfield = StatusKeys(rawValue: 1 << 0)
    static let completedLength = StatusKeys(rawValue: 1 << 1)
    static let connections = StatusKeys(rawValue: 1 << 2)
    static let dir = StatusKeys(rawValue: 1 << 3)
    static let downloadSpeed = StatusKeys(rawValue: 1 << 4)
    static let errorCode = StatusKeys(rawValue: 1 << 5)
    static let errorMessage = StatusKeys(rawValue: 1 << 6)
    static let files = StatusKeys(rawValue: 1 << 7)
    static let gid = StatusKeys(rawValue: 1 << 8)
    static let numPieces = StatusKeys(rawValue: 1 << 9)
    static let pieceLength = StatusKeys(rawValue: 1 << 10)
    static let status = StatusKeys(rawValue: 1 << 11)
    static let totalLength = StatusKeys(rawValue: 1 << 12)
    static let uploadLength = StatusKeys(rawValue: 1 << 13)
    static let uploadSpeed = StatusKeys(rawValue: 1 << 14)

    static let all = StatusKeys(rawValue: 1 << 15 - 1)
}

extension StatusKeys {
    /// The members in a list; all of them if it is empty. Members for torrents and unknown elements are ignored.
    init(_ list: [JSONValue]) {
        if list.isEmpty {
            self = .all
            return
        }
        self = []
        for value in list {
            if let name = value.string, let key = Self.named[name] { insert(key) }
        }
    }

    private static let named: [String: StatusKeys] = [
        "bitfield": bitfield, "completedLength": completedLength, "connections": connections, "dir": dir,
        "downloadSpeed": downloadSpeed, "errorCode": errorCode, "errorMessage": errorMessage, "files": files, "gid": gid,
        "numPieces": numPieces, "pieceLength": pieceLength, "status": status, "totalLength": totalLength,
        "uploadLength": uploadLength, "uploadSpeed": uploadSpeed,
    ]
}
