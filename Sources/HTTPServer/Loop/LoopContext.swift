internal import HTTPCore

/// The shared state of a loop's connections: storage that they use in turn, and the fields of every response.
struct LoopContext: ~Copyable {
    let application: any Application
    let limits: ServerLimits
    let ingress: Ingress
    let mailbox: Mailbox
    /// The shared memory of bodies, on all loops.
    let bodyStorage: SharedBudget
    /// The number of connections, on all loops, whose buffer in the kernel is unlimited.
    let unlimitedSockets: SharedBudget
    let translation = MomentTranslation()
    private let serverName: String?
    private let defaultFields: [(name: FieldName, value: String)]
    private let defaultNames: FieldNameSet

    /// The time of the current loop pass.
    var now: Moment
    /// The buffer that sockets are read into.
    var readBuffer: [UInt8]
    /// An output buffer that no connection uses at the moment.
    var spareOutput: [UInt8] = []
    /// The buffer of a chunk's bytes before their number is known.
    var chunk: [UInt8] = []
    /// The parser of heads that arrive in one piece, as nearly all do.
    var parser: RequestParser
    var request = Request()
    var response = Response()
    var identifiers = IdentifierSource()

    /// The fields of every response: Date, Server, X-Content-Type-Options, the default ones, and the beginning of
    /// X-Request-Id's line.
    private var commonFields: [UInt8] = []
    /// The fields of every response without the default ones.
    private var fieldsWithoutDefaults: [UInt8] = []
    private var dateSeconds: Int64 = .min

    /// The size of the read buffer in bytes. A larger one would not fit into the processor's cache.
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

    /// Begins a loop pass. RFC 9110 §6.6.1: Date has a resolution of one second, so it is encoded once a second.
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

    /// Takes the read buffer; ``returnBuffer(_:)`` returns it.
    mutating func takeReadBuffer() -> [UInt8] {
        var buffer: [UInt8] = []
        swap(&buffer, &readBuffer)
        return buffer
    }

    mutating func returnBuffer(_ buffer: consuming [UInt8]) {
        readBuffer = buffer
    }
}
