internal import System

/// What a loop is made of, on the way to its thread: everything of the loop itself belongs to that.
struct LoopSetup: Sendable {
    let group: LoopGroup
    let member: LoopGroup.Member
    let listener: Listener
    let application: any Application
    let configuration: ServerConfiguration

    /// Starts the thread. Descriptors that the loop needs and can't have end it at once.
    func start(name: String) throws(SystemError) {
        try Thread.start(name: name, run)
    }

    private func run() {
        do throws(SystemError) {
            var loop = try EventLoop(
                group: group, member: member, listener: listener, application: application, configuration: configuration)
            loop.run()
        } catch {
            listener.leave()
            for message in member.mailbox.close() { message.discard() }
            group.ended()
        }
    }
}
