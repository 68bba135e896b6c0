internal import Downloads
internal import HTTPCore
internal import HTTPServer

extension API {
    /// Refuses to change a download that the request wants changed only in a state it isn't in any more: RFC 9110 §13.1.1.
    ///
    /// Says nothing of a download that isn't there; the change itself does.
    func checkConditions(on id: DownloadID, _ request: borrowing Request) throws(Problem) {
        guard Preconditions.areAsked(by: request.head.fields), let download = board.download(id) else { return }
        let outcome = Preconditions.evaluate(
            method: request.head.method, fields: request.head.fields, etag: download.entityTag, lastModified: nil)
        guard outcome != .failed else {
            throw Problem(.preconditionFailed, "the download is not what If-Match names any more; GET tells what it is now")
        }
    }
}
