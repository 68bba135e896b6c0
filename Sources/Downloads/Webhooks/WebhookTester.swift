internal import DownloadCore
internal import HTTPClient
internal import HTTPCore
internal import System

/// The outcome of a test message to a default webhook.
public struct WebhookTest: Sendable, Equatable {
    /// The URL of the webhook, without its user information.
    public let url: String
    /// The status of the response; `nil`: there was none.
    public let status: Int?
    /// The reason why the receiver does not have the message; `nil`: it has accepted it.
    public let error: String?
}

/// Sends test messages, without the store and the queue. One test runs at a time, whose outcomes all its callers get.
final class WebhookTester: Sendable {
    private let sender: any WebhookSender
    private let running = Locked<Task<[WebhookTest], Never>?>(nil)

    init(sender: any WebhookSender) {
        self.sender = sender
    }

    /// Makes one attempt to deliver each message, or joins the test that is running.
    /// - Parameter limit: The longest wait for a receiver.
    /// - Returns: The outcomes, in the order of the messages.
    func test(_ deliveries: [WebhookDelivery], within limit: Duration) async -> [WebhookTest] {
        let test = running.withLock { running in
            let test = running ?? Task { [sender] in await Self.outcomes(of: deliveries, by: sender, within: limit) }
            running = test
            return test
        }
        let outcomes = await test.value
        running.withLock { if $0 == test { $0 = nil } }
        return outcomes
    }

    private static func outcomes(
        of deliveries: [WebhookDelivery], by sender: any WebhookSender, within limit: Duration
    ) async -> [WebhookTest] {
        await withTaskGroup(of: (index: Int, test: WebhookTest).self) { group in
            for (index, delivery) in deliveries.enumerated() {
                group.addTask { (index, await outcome(of: delivery, by: sender, within: limit)) }
            }
            var outcomes: [(index: Int, test: WebhookTest)] = []
            for await outcome in group { outcomes.append(outcome) }
            return outcomes.sorted { $0.index < $1.index }.map(\.test)
        }
    }

    private static func outcome(
        of delivery: WebhookDelivery, by sender: any WebhookSender, within limit: Duration
    ) async -> WebhookTest {
        let attempt = Task { () async -> Result<Int, ClientError> in
            do throws(ClientError) {
                return .success(try await sender.send(delivery))
            } catch {
                return .failure(error)
            }
        }
        let alarm = Task {
            try await Task.sleep(for: limit)
            attempt.cancel()
        }
        let result = await attempt.value
        alarm.cancel()
        let url = HTTPURL(delivery.url)?.withoutUserInfo.string ?? ""
        return switch result {
        case .success(let status): WebhookTest(url: url, status: status, error: WebhookPolicy.objection(to: status))
        case .failure(.cancelled): WebhookTest(url: url, status: nil, error: "no response within \(limit)")
        case .failure(let error): WebhookTest(url: url, status: nil, error: error.message)
        }
    }
}
