/// A statement, and what to run it with.
public struct PostgresCommand: Sendable {
    /// What is run.
    public let statement: PostgresStatement
    /// `$1` first; at most 65,535.
    public let parameters: [PostgresValue]

    /// A statement with its parameters.
    public init(_ statement: PostgresStatement, _ parameters: [PostgresValue] = []) {
        self.statement = statement
        self.parameters = parameters
    }

    /// What the protocol or the server can't take is refused before anything is sent.
    func check() throws(PostgresError) {
        guard parameters.count <= Self.maximumCount else {
            throw .invalid("statement \(statement.name) has \(parameters.count) parameters: \(Self.maximumCount) are possible")
        }
        for (index, parameter) in parameters.enumerated() {
            let size: Int
            switch parameter {
            case .text(let text):
                // libpq takes texts up to their first NUL: the rest would be lost.
                guard !PostgresValue.hasNUL(text) else {
                    throw .invalid("parameter $\(index + 1) of \(statement.name) contains U+0000, which PostgreSQL cannot keep")
                }
                size = text.utf8.count
            case .bytes(let bytes): size = bytes.count
            case .null, .boolean, .integer: size = 0
            }
            guard size <= Self.maximumSize else {
                throw .invalid("parameter $\(index + 1) of \(statement.name) has \(size) bytes: 1 GiB is possible")
            }
        }
    }

    /// PQ_QUERY_PARAM_MAX_LIMIT: the protocol counts parameters with 16 bits.
    private static let maximumCount = 65_535
    /// What a value of PostgreSQL's can hold (MaxAllocSize).
    private static let maximumSize = 0x3fff_ffff
}
