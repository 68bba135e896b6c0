public import HTTPCore
internal import XML

/// A page of a list of objects, ordered by the bytes of their keys.
public struct ObjectPage: Sendable, Equatable {
    /// An object in the list.
    public struct Item: Sendable, Equatable {
        /// The key without the location's prefix.
        public let key: String
        /// The length in bytes.
        public let length: Int64
        /// The time at which it was written, by the service's clock.
        public let lastModified: Timestamp
    }

    /// The objects, at most 1,000.
    public let items: [Item]
    /// The value of `after` for the next page; `nil` for the last page.
    public let next: String?
}

extension ObjectPage {
    /// Decodes a `ListBucketResult` (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html>).
    ///
    /// Services give the root different names, but not its children. A document without them is no list, so that no page of
    /// another program counts as an empty one.
    init(_ document: XMLElement, location: ObjectLocation) throws(ObjectStorageError) {
        guard let root = document.holder(of: "IsTruncated", "MaxKeys", "KeyCount") else {
            throw .invalidResponse("a list is an element \(document.name)")
        }
        let isEncoded = root["EncodingType"]?.text == "url"
        var items: [Item] = []
        for element in root.children where element.name == "Contents" {
            guard
                let key = try element["Key"].map({ (key) throws(ObjectStorageError) in
                    try location.key(listed: key.text, isEncoded)
                }),
                let length = element["Size"].flatMap({ Int64($0.text) }), length >= 0,
                let time = element["LastModified"].flatMap({ Timestamp(parsing: $0.text) })
            else { throw .invalidResponse("an object in a list lacks its key, size or time") }
            items.append(Item(key: key, length: length, lastModified: time))
        }
        self.items = items
        next = root["IsTruncated"]?.text == "true" ? items.last?.key : nil
        if root["IsTruncated"]?.text == "true", items.isEmpty { throw .invalidResponse("a list is continued, but empty") }
    }
}

extension ObjectLocation {
    /// The key in a list without the prefix.
    func key(listed text: String, _ isEncoded: Bool) throws(ObjectStorageError) -> String {
        // Services write a space as + or as %20, and a plus always as %2B.
        guard let key = isEncoded ? PercentEncoding.decode(Array(text.utf8), plusIsSpace: true) : text else {
            throw .invalidResponse("a key in a list has a bad escape")
        }
        if prefix.isEmpty { return key }
        guard key.utf8.starts(with: "\(prefix)/".utf8) else { throw .invalidResponse("a list has a key that was not requested") }
        return String(decoding: key.utf8.dropFirst(prefix.utf8.count + 1), as: UTF8.self)
    }
}
