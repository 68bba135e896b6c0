public import HTTPCore

/// A page of a list of uploads in parts that were neither completed nor given up.
public struct UploadPage: Sendable, Equatable {
    /// One upload.
    public struct Item: Sendable, Equatable {
        /// The key, behind the location's prefix, that the object would have.
        public let key: String
        /// The service's name for it.
        public let uploadID: String
        /// When it was begun, by the service's clock.
        public let initiated: Timestamp
    }

    /// Where a page begins.
    public struct Position: Sendable, Equatable {
        let key: String
        let uploadID: String
    }

    /// At most 1,000.
    public let items: [Item]
    /// What to ask for as `after` to get the next page; nil: this is the last.
    public let next: Position?
}

extension UploadPage {
    /// Reads a `ListMultipartUploadsResult` (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html>).
    init(_ root: XMLElement, location: ObjectLocation) throws(ObjectStorageError) {
        guard root.name == "ListMultipartUploadsResult" else { throw .invalidResponse("a list of uploads is a \(root.name)") }
        let isEncoded = root["EncodingType"]?.text == "url"
        var items: [Item] = []
        for element in root.children where element.name == "Upload" {
            guard let key = element["Key"], let uploadID = element["UploadId"]?.text, !uploadID.isEmpty,
                let initiated = element["Initiated"].flatMap({ Timestamp(parsing: $0.text) })
            else { throw .invalidResponse("an upload in a list lacks its key, name or time") }
            items.append(Item(key: try location.key(listed: key.text, isEncoded), uploadID: uploadID, initiated: initiated))
        }
        self.items = items
        guard root["IsTruncated"]?.text == "true" else {
            next = nil
            return
        }
        guard let last = items.last else { throw .invalidResponse("a list of uploads goes on, but is empty") }
        next = Position(key: last.key, uploadID: last.uploadID)
    }
}
