public import HTTPCore
internal import XML

/// A page of a list of uploads in parts that were neither completed nor aborted.
public struct UploadPage: Sendable, Equatable {
    /// An upload in the list.
    public struct Item: Sendable, Equatable {
        /// The key of the future object, without the location's prefix.
        public let key: String
        /// The service's id of the upload.
        public let uploadID: String
        /// The time at which it began, by the service's clock.
        public let initiated: Timestamp
    }

    /// The beginning of a page.
    public struct Position: Sendable, Equatable {
        let key: String
        let uploadID: String
    }

    /// The uploads, at most 1,000.
    public let items: [Item]
    /// The value of `after` for the next page; `nil` for the last page.
    public let next: Position?
}

extension UploadPage {
    /// Decodes a `ListMultipartUploadsResult`
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html>).
    init(_ document: XMLElement, location: ObjectLocation) throws(ObjectStorageError) {
        guard let root = document.holder(of: "IsTruncated", "MaxUploads") else {
            throw .invalidResponse("a list of uploads is an element \(document.name)")
        }
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
        guard let last = items.last else { throw .invalidResponse("a list of uploads is continued, but empty") }
        next = Position(key: last.key, uploadID: last.uploadID)
    }
}
