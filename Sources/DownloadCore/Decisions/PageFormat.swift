internal import HTTPCore

/// The formats of login and error pages. Such a page is sent in place of a file, with a status that announces the file.
package enum PageFormat: Sendable, Equatable {
    case html, json, xml

    /// Creates the format of a Content-Type value; `nil` for a value of another format.
    package init?(contentType: String) {
        switch Self.essence(of: contentType) {
        case "text/html", "application/xhtml+xml": self = .html
        case "application/json", "text/json", "application/x-json", "text/x-json": self = .json
        case "application/xml", "text/xml": self = .xml
        case let other where Self.ends(other, with: "+json"): self = .json
        case let other where Self.ends(other, with: "+xml"): self = .xml
        default: return nil
        }
    }

    /// Returns the type and subtype of a Content-Type value in lowercase.
    ///
    /// It is more tolerant than ``MediaType``: it reads up to the first character that neither can contain.
    package static func essence(of contentType: String) -> String {
        let isEnd = { (byte: UInt8) in
            byte <= 0x20 || byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"")
        }
        let bytes = contentType.utf8.drop(while: isEnd).prefix { !isEnd($0) }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }

    /// Returns the first media type of a Content-Type value that ``MediaType`` cannot parse; `nil` if there is none.
    package static func mediaType(of contentType: String) -> String? {
        let essence = essence(of: contentType)
        return MediaType(parsing: essence) == nil ? nil : essence
    }

    private static func ends(_ text: String, with suffix: String) -> Bool {
        text.utf8.reversed().starts(with: suffix.utf8.reversed())
    }
}
