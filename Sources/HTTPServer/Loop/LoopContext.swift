internal import HTTPCore

/// What the connections of one loop share: storage that is used again by each in turn, and what every response says.
struct LoopContext: ~Copyable {
    let application: any Application
    let limits: ServerLimits
    let ingress: Ingress
    let mailbox: Mailbox
    /// What bodies that are arriving take, on all loops.
    let bodyStorage: SharedBudget
    /// Connections, of all loops, for which the kernel takes as much as it sees fit.
    let unlimitedSockets: SharedBudget
    let translation = MomentTranslation()
    private let serverName: String?
    private let defaultFields: [(name: FieldName, value: String)]
    private let defaultNames: FieldNameSet

    /// The time of the round the loop is in.
    var now: Moment
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
    var identifiers = IdentifierSource()

    /// The fields that every response has: Date, Server, X-Content-Type-Options, the default ones, and the beginning of X-Request-Id's line.
    private var commonFields: [UInt8] = []
    /// The same without those that are only defaults.
    private var fieldsWithoutDefaults: [UInt8] = []
    private var dateSeconds: Int64 = .min

    /// The size of the read buffer in bytes; a larger one would fall out of the processor's cache.
    private static let readSize = 64 * 1024

    init(
        application: any Application, configuration: ServerConfiguration, mailbox: Mailbox, bodyStorage: SharedBudget,
        unlimitedSockets: SharedBudget
    ) {
        self.application = application
        limits = configuration.limits
        ingress = configuration.ingress
        serverName = configuration.serverName
        defaultFields = configuration.defaultFields.filter { !Fields($0.name, $0.value).contains(Connection.reservedNames) }
        defaultNames = FieldNameSet(defaultFields.map(\.name))
        self.mailbox = mailbox
        self.bodyStorage = bodyStorage
        self.unlimitedSockets = unlimitedSockets
        now = .now
        readBuffer = Array(repeating: 0, count: Self.readSize)
        parser = RequestParser(limits: configuration.limits.parser)
        tick()
    }

    /// A new round begins. RFC 9110 §6.6.1 wants a Date of one second's resolution, so it is made once a second.
    mutating func tick() {
        now = .now
        let seconds = Moment.secondsSinceEpoch
        guard seconds != dateSeconds else { return }
        dateSeconds = seconds
        var fields = Fields()
        fields.append(.date, HTTPDate(secondsSinceEpoch: seconds))
        if let serverName { fields.append(.server, serverName) }
        fields.append(.xContentTypeOptions, "nosniff")
        Self.write(fields, into: &fieldsWithoutDefaults)
        for (name, value) in defaultFields { fields.append(name, value) }
        Self.write(fields, into: &commonFields)
    }

    private static func write(_ fields: Fields, into lines: inout [UInt8]) {
        lines.removeAll(keepingCapacity: true)
        fields.encode(into: &lines)
        lines.append(contentsOf: "X-Request-Id: ".utf8)
    }

    /// Appends the head of a response up to the value of X-Request-Id. `fields` are the response's own, which follow.
    func beginHead(_ status: HTTPStatus, _ fields: inout Fields, into output: inout [UInt8]) {
        ResponseEncoder.encodeStatusLine(status, into: &output)
        if fields.contains(defaultNames) {
            for (name, value) in defaultFields where !fields.contains(name) { fields.append(name, value) }
            output.append(contentsOf: fieldsWithoutDefaults)
        } else {
            output.append(contentsOf: commonFields)
        }
    }

    /// Lends the read buffer; ``giveBack(_:)`` returns it.
    mutating func takeReadBuffer() -> [UInt8] {
        var buffer: [UInt8] = []
        swap(&buffer, &readBuffer)
        return buffer
    }

    mutating func giveBack(_ buffer: consuming [UInt8]) {
        readBuffer = buffer
    }
}
