import System

/// The content of a request from a range of a file, with the progress of its reading. Belongs to one loop's thread.
struct FileContent {
    private let file: FileDescriptor
    private let range: Range<Int64>
    /// The number of bytes that libcurl has received.
    private(set) var sent: Int64 = 0

    init(file: FileDescriptor, range: Range<Int64>) {
        self.file = file
        self.range = range
    }

    /// The total number of bytes.
    var count: Int64 { range.upperBound - range.lowerBound }

    /// Whether all bytes have been read.
    var isAtEnd: Bool { sent == count }

    /// Reads the next bytes into a buffer. Returns their number, which is 0 only at the end, or the error if the file
    /// cannot be read.
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

    /// Continues at an offset within the range, since libcurl sends the request again. Returns false if the offset is
    /// outside.
    mutating func seek(to offset: Int64) -> Bool {
        guard (0...count).contains(offset) else { return false }
        sent = offset
        return true
    }
}
