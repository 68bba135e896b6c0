/// A section of a file.
public struct FileSection: Sendable {
    /// The file, which stays open until the section is sent.
    public let file: FileHandle
    /// The offset of the section, in bytes.
    public let offset: Int64
    /// The length in bytes. If the file is shorter, the connection is reset, because the length has already been sent.
    public let length: Int64

    /// Creates a section. Negative numbers become 0.
    public init(file: FileHandle, offset: Int64, length: Int64) {
        self.file = file
        self.offset = max(offset, 0)
        self.length = max(length, 0)
    }
}
