internal import HTTPCore

/// What the connections of one loop share: storage that is used again by each in turn, and what every response says.
final class LoopContext {
    let application: any Application
    let limits: ServerLimits
    let mailbox: Mailbox
    private let serverName: String?

    /// The time of the round the loop is in.
    var now: ContinuousClock.Instant
    /// Where bytes from sockets go first.
    var readBuffer: [UInt8]
    /// An output buffer that no connection needs at the moment.
    var spareOutput: [UInt8] = []
    /// Where a chunk's bytes are made, before their number is known.
    var chunk: [UInt8] = []
    /// Reads heads that are whole when they come, which is nearly all.
    var parser: RequestParser
    var request = Request()
    var response = Response()
    var identifiers = RequestIdentifier()

    /// The field lines that every response has: Date, Server, X-Content-Type-Options.
    private(set) var commonFields: [UInt8] = []
    private var dateSeconds: Int64 = .min

    /// The size of the read buffer in bytes; a larger one would fall out of the processor's cache.
    private static let readSize = 64 * 1024

    init(application: any Application, configuration: ServerConfiguration, mailbox: Mailbox) {
        self.application = application
        limits = configuration.limits
        serverName = configuration.serverName
        self.mailbox = mailbox
        now = .now
        readBuffer = Array(repeating: 0, count: Self.readSize)
        parser = RequestParser(limits: configuration.limits.parser)
        tick()
    }

    /// A new round begins. RFC 9110 §6.6.1 wants a Date of one second's resolution, so it is made once a second.
    func tick() {
        now = .now
        let seconds = WallClock.secondsSinceEpoch
        guard seconds != dateSeconds else { return }
        dateSeconds = seconds
        var fields = Fields()
        fields.append(.date, HTTPDate(secondsSinceEpoch: seconds))
        if let serverName { fields.append(.server, serverName) }
        fields.append(.xContentTypeOptions, "nosniff")
        commonFields.removeAll(keepingCapacity: true)
        fields.encode(into: &commonFields)
    }

    /// Lends the read buffer; ``giveBack(_:)`` returns it.
    func takeReadBuffer() -> [UInt8] {
        var buffer: [UInt8] = []
        swap(&buffer, &readBuffer)
        return buffer
    }

    func giveBack(_ buffer: consuming [UInt8]) {
        readBuffer = buffer
    }
}
