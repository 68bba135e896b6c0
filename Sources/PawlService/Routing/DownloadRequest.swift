internal import Catalog
internal import DownloadCore
internal import HTTPCore
internal import JSON

/// The checked body of `POST /downloads`.
struct DownloadRequest: Sendable {
    /// The file to download.
    enum Source: Sendable {
        case url(HTTPURL)
        /// An id from a search, not yet looked up.
        case track(String)
    }

    let source: Source
    /// The prefix of member names in refusals, such as `downloads[3].`.
    let prefix: String
    /// The choices for the download.
    private(set) var options = DownloadOptions()

    /// Reads the JSON object. `prefix` precedes member names in refusals.
    init(_ value: JSONValue, prefix: String = "") throws(Problem) {
        self.prefix = prefix
        var reader = try ObjectReader(value, prefix: prefix)
        if reader.holds("partsOf") {
            throw reader.refusal(
                "partsOf", "selects the parts of a work; send it to POST /downloads/batch instead of 'downloads'")
        }
        let url = try reader.url("url")
        let trackID = try reader.string("trackId", limit: Catalog.longestID)
        if url != nil, trackID != nil {
            throw reader.refusal("trackId", "is given together with 'url'; a download takes only one of them")
        }
        try options.read(DownloadOptions.Member.ofDownload, &reader)
        if let credentials = url?.basicAuthorization {
            do throws(RequestHeaders.Fault) {
                try options.headers.authorize(credentials)
            } catch {
                throw reader.refusal("url", "has a user name, but 'headers' has Authorization; send only one of them")
            }
        }
        try reader.finish()
        // After unknown members, since one of them may be a misspelt 'url'.
        guard let source = url.map(Source.url) ?? trackID.map(Source.track) else {
            throw reader.refusal("url", "is missing; a download takes either 'url' or 'trackId'")
        }
        self.source = source
    }
}
