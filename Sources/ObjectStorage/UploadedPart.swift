internal import HTTPCore
internal import System

/// A part that the service has stored.
struct UploadedPart: Sendable, Equatable {
    /// The number of the part, from 1.
    let number: Int
    /// The service's tag of the part, without quotes.
    let tag: String

    /// The document that combines parts into an object
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html>).
    static func document(of parts: [UploadedPart]) -> [UInt8] {
        let items = parts.map { part in
            // Tags are usually hexadecimal digits, but that is not guaranteed.
            let tag = part.tag.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            return "<Part><PartNumber>\(part.number)</PartNumber><ETag>&quot;\(tag)&quot;</ETag></Part>"
        }
        let namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
        return Array("<CompleteMultipartUpload xmlns=\"\(namespace)\">\(items.joined())</CompleteMultipartUpload>".utf8)
    }

    /// The tag of an object with these parts, if tags are MD5 digests: the MD5 of the digests, and the number of parts.
    /// `nil` if a tag is not a digest. If tags only look like digests, as with SSE-KMS, the object has a different tag.
    static func tag(of parts: [UploadedPart]) -> String? {
        var digest = MessageDigest(.md5)
        for part in parts {
            guard let bytes = Hexadecimal.decode(Array(part.tag.utf8)), bytes.count == 16 else { return nil }
            unsafe digest.update(bytes.span.bytes)
        }
        return "\(Hexadecimal.encode(digest.digest()))-\(parts.count)"
    }
}
