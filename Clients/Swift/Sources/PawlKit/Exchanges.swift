internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A part of a response, as it arrives.
enum Part: Sendable {
    case head(HTTPURLResponse)
    case bytes(Data)
}

/// A response that arrives in parts.
struct Response {
    /// The maximum number of bytes of a body or an event.
    static let maximumBytes = 64 << 20

    var head: HTTPURLResponse?
    var body = Data()

    var isSuccess: Bool { head.map { 200..<300 ~= $0.statusCode } ?? false }
    var isEventStream: Bool { isSuccess && mediaType == "text/event-stream" }
    var mediaType: String? {
        let type = head?.value(forHTTPHeaderField: "Content-Type")?.split(separator: ";").first
        return type?.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// The error that this response means if it is not the expected one.
    var error: PawlError {
        guard let head else { return .noConnection(URLError(.badServerResponse)) }
        guard !isSuccess else { return .mediaType(mediaType) }
        let problem = mediaType == "application/problem+json" ? try? JSONDecoder().decode(Problem.self, from: body) : nil
        return .http(status: head.statusCode, problem: problem)
    }

    mutating func append(_ part: Part) throws {
        switch part {
        case .head(let response): head = response
        case .bytes(let bytes): body += bytes
        }
        guard body.count <= Self.maximumBytes else { throw PawlError.noConnection(URLError(.dataLengthExceedsMaximum)) }
    }
}

/// The running tasks of a session: hands the parts of each response to its reader, and decides about redirects.
final class Exchanges: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    typealias Parts = AsyncThrowingStream<Part, any Error>

    /// The maximum number of parts that a reader may be behind. A reader of events that is further behind connects again.
    private static let maximumParts = 4096

    private let lock = NSLock()
    private var readers: [Int: (parts: Parts.Continuation, destination: URL?)] = [:]

    /// Starts a task, which is cancelled when its reader ends. A download task saves the body to `destination`.
    func start(_ task: URLSessionTask, savingTo destination: URL?) -> Parts {
        Parts(bufferingPolicy: .bufferingOldest(Self.maximumParts)) { parts in
            lock.withLock { readers[task.taskIdentifier] = (parts, destination) }
            parts.onTermination = { if case .cancelled = $0 { task.cancel() } }
            task.resume()
        }
    }

    private subscript(task: URLSessionTask) -> (parts: Parts.Continuation, destination: URL?)? {
        lock.withLock { readers[task.taskIdentifier] }
    }

    func urlSession(
        _: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let head = response as? HTTPURLResponse { self[dataTask]?.parts.yield(.head(head)) }
        completionHandler(.allow)
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let parts = self[dataTask]?.parts, case .dropped = parts.yield(.bytes(data)) else { return }
        parts.finish(throwing: PawlError.noConnection(URLError(.dataLengthExceedsMaximum)))
        dataTask.cancel()
    }

    func urlSession(_: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        guard let reader = self[downloadTask], let destination = reader.destination else { return }
        do { try FileManager.default.moveItem(at: location, to: destination) } catch { reader.parts.finish(throwing: error) }
        if let head = downloadTask.response as? HTTPURLResponse { reader.parts.yield(.head(head)) }
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let reader = lock.withLock { readers.removeValue(forKey: task.taskIdentifier) }
        let failure = error.map { $0 as? URLError ?? URLError(.unknown) }
        reader?.parts.finish(throwing: failure?.code == .cancelled ? nil : failure.map(PawlError.noConnection))
    }

    /// Follows redirects of reading requests, such as a fleet's to its object storage. The token stays with its origin, and
    /// nothing leaves https. A change is not redirected, since it would lose its body or its method.
    func urlSession(
        _: URLSession, task: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse, newRequest: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let first = task.originalRequest, first.httpMethod == "GET", let from = first.url, let to = newRequest.url,
            to.scheme == "https" || (to.scheme == "http" && from.scheme == "http")
        else { return completionHandler(nil) }
        func origin(_ url: URL) -> String { "\(url.scheme ?? "")://\(url.host ?? ""):\(url.port ?? 0)".lowercased() }
        var request = newRequest
        let token = origin(from) == origin(to) ? first.value(forHTTPHeaderField: "Authorization") : nil
        request.setValue(token, forHTTPHeaderField: "Authorization")
        completionHandler(request)
    }
}
