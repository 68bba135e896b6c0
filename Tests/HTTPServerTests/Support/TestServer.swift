import Foundation
import HTTPCore
import HTTPServer
import Synchronization
import TestSupport

/// An application from a closure.
struct TestApplication: Application {
    var handler: @Sendable (borrowing Request, inout Response) -> Handling
    var decision: @Sendable (borrowing Request, inout Response) -> BodyDecision = { _, _ in .read }

    func decide(onBodyOf request: borrowing Request, with response: inout Response) -> BodyDecision {
        decision(request, &response)
    }

    func respond(to request: borrowing Request, with response: inout Response) -> Handling {
        handler(request, &response)
    }

    func respondsToSurplus(_ request: borrowing Request) -> Bool {
        request.head.target.rawPath.elementsEqual("/probe".utf8)
    }

    func refuse(_ refusal: Refusal, of request: borrowing Request, with response: inout Response) {
        response.fields.append(.contentType, "text/plain")
        response.body = Array(refusal.detail.utf8)
    }
}

/// Runs blocking code on its own thread: Swift's pool has few threads, which the server's tasks use.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Foundation.Thread.detachNewThread {
            continuation.resume(with: Result { try body() })
        }
    }
}

/// Starts a server, runs a blocking client against its port, and shuts the server down.
func withServer<Value: Sendable>(
    loops: Int = 2, limits: @Sendable (inout ServerLimits) -> Void = { _ in },
    defaultFields: [(name: FieldName, value: String)] = [],
    decision: @escaping @Sendable (borrowing Request, inout Response) -> BodyDecision = { _, _ in .read },
    _ handler: @escaping @Sendable (borrowing Request, inout Response) -> Handling,
    client: @escaping @Sendable (Int) throws -> Value
) async throws -> Value {
    var configuration = ServerConfiguration()
    configuration.eventLoops = loops
    limits(&configuration.limits)
    configuration.defaultFields = defaultFields
    let server = HTTPServer(configuration: configuration, application: TestApplication(handler: handler, decision: decision))
    let address = try server.start()
    let result: Result<Value, any Error>
    do {
        result = .success(try await onThread { try client(address.port) })
    } catch {
        result = .failure(error)
    }
    await server.shutdown(within: .zero)
    return try result.get()
}

/// A handler that responds with method, target and body.
func echo(_ request: borrowing Request, _ response: inout Response) -> Handling {
    response.fields.append(.contentType, "text/plain")
    response.body.append(contentsOf: "\(request.head.method) ".utf8)
    response.body.append(contentsOf: request.head.target.rawPath)
    response.body.append(contentsOf: " \(request.body.count) ".utf8)
    response.body.append(contentsOf: request.body)
    return .ready
}

/// A handler that responds as ``echo``, but to `/busy` with a stream of one line without an end.
func echoOrWait(_ request: borrowing Request, _ response: inout Response) -> Handling {
    guard request.head.target.rawPath.elementsEqual("/busy".utf8) else { return echo(request, &response) }
    response.content = .stream(OneLineStream(), length: nil)
    return .ready
}

/// Sends `here` and waits forever.
private final class OneLineStream: BodyStream {
    private let isSaid = Atomic<Bool>(false)

    func opened(_ waker: StreamWaker) {}

    func next(into buffer: inout [UInt8], limit: Int, now: ContinuousClock.Instant) -> StreamStep {
        if !isSaid.exchange(true, ordering: .relaxed) { buffer.append(contentsOf: "here".utf8) }
        return .wait(until: nil)
    }

    func serverIsStopping() {}
    func closed() {}
}

/// A connection whose response continues: ``echoOrWait`` has begun.
func busyConnection(_ port: Int) throws -> TestConnection {
    let client = try TestConnection(port)
    try client.send("GET /busy HTTP/1.1\r\nHost: x\r\n\r\n")
    while try client.takeLine() != "here" {}
    return client
}

/// A value that threads share and can wait for.
final class Box<Value: Sendable>: Sendable {
    private let condition = NSCondition()
    private let value: Mutex<Value>

    init(_ value: Value) {
        self.value = Mutex(value)
    }

    var current: Value { value.withLock { $0 } }

    func update(_ change: (inout sending Value) -> Void) {
        condition.lock()
        value.withLock { change(&$0) }
        condition.broadcast()
        condition.unlock()
    }

    /// Waits until the value satisfies the condition; false after ten seconds.
    func wait(until isWanted: (Value) -> Bool) -> Bool {
        let limit = Date(timeIntervalSinceNow: 90)
        condition.lock()
        defer { condition.unlock() }
        while !isWanted(current) {
            if !condition.wait(until: limit) { return isWanted(current) }
        }
        return true
    }

    /// The same for tasks, without blocking a thread of the pool.
    func reaches(_ isWanted: @escaping @Sendable (Value) -> Bool) async -> Bool {
        (try? await onThread { self.wait(until: isWanted) }) ?? false
    }
}
