import System

/// How far the content of a request, a range of a file, has been read. Belongs to one loop's thread.
struct FileContent {
    private let file: FileDescriptor
    private let range: Range<Int64>
    /// How many of its bytes libcurl has been given.
    private(set) var sent: Int64 = 0

    init(file: FileDescriptor, range: Range<Int64>) {
        self.file = file
        self.range = range
    }

    /// How many bytes it has.
    var count: Int64 { range.upperBound - range.lowerBound }

    /// Whether all has been read.
    var isAtEnd: Bool { sent == count }

    /// Fills a buffer with what follows. Returns how many bytes that are, or why the file cannot be read: 0 only at the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, ClientError> {
        let wanted = Int(min(Int64(buffer.count), count - sent))
        guard wanted > 0 else { return .success(0) }
        do throws(SystemError) {
            let got = try unsafe file.read(into: .init(rebasing: buffer[..<wanted]), at: range.lowerBound + sent)
            guard got == wanted else {
                return .failure(.invalidRequest("the file to send ends before byte \(range.upperBound)"))
            }
            sent += Int64(got)
            return .success(got)
        } catch {
            return .failure(.invalidRequest("the file to send cannot be read: \(error)"))
        }
    }

    /// Goes on at an offset within the range, since libcurl sends the request again. Returns whether there is such a byte.
    mutating func seek(to offset: Int64) -> Bool {
        guard (0...count).contains(offset) else { return false }
        sent = offset
        return true
    }
}
