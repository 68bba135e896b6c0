/// A statement with its parameters.
public struct PostgresCommand: Sendable {
    /// The statement.
    public let statement: PostgresStatement
    /// The parameters, beginning with `$1`; at most 65,535.
    public let parameters: [PostgresValue]

    /// Creates a command from a statement and its parameters.
    public init(_ statement: PostgresStatement, _ parameters: [PostgresValue] = []) {
        self.statement = statement
        self.parameters = parameters
    }

    /// Refuses parameters that the protocol or the server cannot take, before anything is sent.
    func check() throws(PostgresError) {
        guard parameters.count <= Self.maximumCount else {
            throw .invalid(
                "statement \(statement.name) has \(parameters.count) parameters: at most \(Self.maximumCount) are possible")
        }
        for (index, parameter) in parameters.enumerated() {
            let size: Int
            switch parameter {
            case .text(let text):
                // libpq reads a text up to its first NUL, so the rest would be lost.
                guard !PostgresValue.hasNUL(text) else {
                    throw .invalid("parameter $\(index + 1) of \(statement.name) contains U+0000, which PostgreSQL cannot store")
                }
                size = text.utf8.count
            case .bytes(let bytes): size = bytes.count
            case .null, .boolean, .integer: size = 0
            }
            guard size <= Self.maximumSize else {
                throw .invalid("parameter $\(index + 1) of \(statement.name) has \(size) bytes: at most 1 GiB is possible")
            }
        }
    }

    /// PQ_QUERY_PARAM_MAX_LIMIT: the protocol counts parameters with 16 bits.
    private static let maximumCount = 65_535
    /// The maximum size of a PostgreSQL value (MaxAllocSize).
    private static let maximumSize = 0x3fff_ffff
}
