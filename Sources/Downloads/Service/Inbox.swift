internal import System

/// Messages from any thread to one reader, who takes what has come together.
///
/// Each way to the reader costs two changes of executor, which under load many messages share.
final class Inbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var reader: CheckedContinuation<Void, Never>?
        var isFinished = false
    }

    private let state = Locked(State())

    /// Adds a message; after ``finish()`` it is dropped.
    func yield(_ message: Message) {
        let reader = state.withLock { state in
            guard !state.isFinished else { return nil as CheckedContinuation<Void, Never>? }
            state.messages.append(message)
            return state.reader.take()
        }
        reader?.resume()
    }

    /// Waits for messages, and takes all that are there.
    /// - Returns: at least one, oldest first; `nil` once it has been finished and emptied.
    func next() async -> [Message]? {
        while true {
            let (messages, isFinished) = state.withLock { state in
                var messages: [Message] = []
                swap(&messages, &state.messages)
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

    /// No message comes any more.
    func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            return state.reader.take()
        }
        reader?.resume()
    }
}
