internal import System

/// A queue of messages from any thread to one reader, which takes all waiting messages together.
///
/// Each wake-up of the reader costs two changes of executor. Under load, many messages share one.
final class Inbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var reader: CheckedContinuation<Void, Never>?
        var isFinished = false
    }

    private let state = Locked(State())

    /// Adds a message. After ``finish()`` it is discarded.
    /// - Returns: Whether it was added.
    @discardableResult
    func yield(_ message: Message) -> Bool {
        let (reader, isAdded) = state.withLock { state in
            guard !state.isFinished else { return (nil as CheckedContinuation<Void, Never>?, false) }
            state.messages.append(message)
            return (state.reader.take(), true)
        }
        reader?.resume()
        return isAdded
    }

    /// Waits for messages, and takes all of them.
    /// - Returns: One or more messages, oldest first; `nil` once the inbox is finished and empty.
    func next() async -> [Message]? {
        while true {
            let (messages, isFinished) = state.withLock { state in
                var messages: [Message] = []
                swap(&messages, &state.messages)
                // Under load, about as many follow.
                state.messages.reserveCapacity(messages.count)
                return (messages, state.isFinished)
            }
            if !messages.isEmpty { return messages }
            if isFinished { return nil }
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if !state.messages.isEmpty || state.isFinished { return true }
                    state.reader = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        }
    }

    /// Ends the inbox: it accepts no more messages.
    func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            return state.reader.take()
        }
        reader?.resume()
    }
}
