internal import System

/// A part that the service has.
struct UploadedPart: Sendable, Equatable {
    /// From 1 on.
    let number: Int
    /// The service's tag for it, without quotes.
    let tag: String

    /// The document that makes an object of parts
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html>).
    static func document(of parts: [UploadedPart]) -> [UInt8] {
        let items = parts.map { part in
            // Tags are hexadecimal digits nearly everywhere, but nobody promises that.
            let tag = part.tag.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            return "<Part><PartNumber>\(part.number)</PartNumber><ETag>&quot;\(tag)&quot;</ETag></Part>"
        }
        let namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
        return Array("<CompleteMultipartUpload xmlns=\"\(namespace)\">\(items.joined())</CompleteMultipartUpload>".utf8)
    }

    /// The tag that an object of these parts has where tags are MD5 digests: that of the digests, and how many they are. nil: they are
    /// none. Where they only look like digests, as with SSE-KMS, an object has another tag than this.
    static func tag(of parts: [UploadedPart]) -> String? {
        var digest = MessageDigest(.md5)
        for part in parts {
            guard let bytes = Hexadecimal.decode(Array(part.tag.utf8)), bytes.count == 16 else { return nil }
            unsafe digest.update(bytes.span.bytes)
        }
        return "\(Hexadecimal.encode(digest.digest()))-\(parts.count)"
    }
}
