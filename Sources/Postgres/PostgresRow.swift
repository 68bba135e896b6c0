internal import CPostgres

/// A row. Columns count from 0. A cell that is NULL, absent or of another type than the named ones is `nil`.
public struct PostgresRow: Sendable {
    let memory: ResultMemory
    let index: Int32

    /// Whether the cell is NULL or absent.
    public func isNull(_ column: Int) -> Bool {
        unsafe memory.withCell(index, column) { _, _ in true } == nil
    }

    /// A `smallint`, `integer` or `bigint`.
    public func integer(_ column: Int) -> Int64? {
        unsafe memory.withCell(index, column) { type, bytes in
            switch (type, bytes.count) {
            case (ColumnType.smallint, 2): unsafe Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
            case (ColumnType.integer, 4): unsafe Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
            case (ColumnType.bigint, 8): unsafe Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
            default: nil
            }
        }
    }

    /// A `boolean`.
    public func boolean(_ column: Int) -> Bool? {
        unsafe memory.withCell(index, column) { type, bytes in
            unsafe type == ColumnType.boolean && bytes.count == 1 ? bytes[0] != 0 : nil
        }
    }

    /// A `text`, `varchar`, `char(n)`, `name`, `json` or `jsonb`, or a literal without a type.
    public func text(_ column: Int) -> String? {
        unsafe memory.withCell(index, column) { type, bytes in
            if ColumnType.texts.contains(type) { return unsafe String(decoding: bytes, as: UTF8.self) }
            // The binary form of `jsonb` begins with the version of the form, which is 1.
            guard type == ColumnType.jsonb, unsafe bytes.first == 1 else { return nil }
            return unsafe String(decoding: bytes.dropFirst(), as: UTF8.self)
        }
    }

    /// A `bytea`.
    public func bytes(_ column: Int) -> [UInt8]? {
        unsafe memory.withCell(index, column) { type, bytes in
            type == ColumnType.bytea ? unsafe [UInt8](bytes) : nil
        }
    }
}

/// Object ids of types, the same in every database (`pg_type.dat` of PostgreSQL).
private enum ColumnType {
    static let boolean: Oid = 16
    static let bytea: Oid = 17
    static let bigint: Oid = 20
    static let smallint: Oid = 21
    static let integer: Oid = 23
    static let jsonb: Oid = 3802
    /// The ids of text, name, json, unknown, bpchar and varchar.
    static let texts: [Oid] = [25, 19, 114, 705, 1042, 1043]
}
