/// A piece of a file.
public struct FileSection: Sendable {
    /// The file, held open until the piece is sent.
    public let file: FileHandle
    /// Where the piece begins, in bytes.
    public let offset: Int64
    /// How long it is, in bytes. A file that turns out shorter breaks the connection off, for the length is promised by then.
    public let length: Int64

    /// That piece of that file. Negative numbers count as 0.
    public init(file: FileHandle, offset: Int64, length: Int64) {
        self.file = file
        self.offset = max(offset, 0)
        self.length = max(length, 0)
    }
}
