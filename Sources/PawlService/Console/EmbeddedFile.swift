internal import CResources

/// A file that the executable contains. The module `CResources` lists them. A compiler of Swift would take minutes for
/// their bytes.
struct EmbeddedFile: Sendable {
    /// The path, such as `console/dom.js`.
    let path: String
    /// The contents.
    let bytes: [UInt8]

    /// All files.
    static let all: [EmbeddedFile] = unsafe sequence(first: 0) { $0 + 1 }.lazy.map { unsafe pawl_resource_at($0) }
        .prefix { unsafe $0 != nil }.compactMap { unsafe $0?.pointee }.map { file in
            unsafe EmbeddedFile(
                path: String(cString: file.path), bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.count)))
        }

    /// The contents of the file with a path; empty if there is none.
    static func bytes(of path: String) -> [UInt8] { all.first { $0.path == path }?.bytes ?? [] }
}
