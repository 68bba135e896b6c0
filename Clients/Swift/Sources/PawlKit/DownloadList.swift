#if canImport(Combine)
    public import Combine

    /// The current list of downloads for SwiftUI.
    ///
    /// ```swift
    /// @StateObject private var list = DownloadList()
    /// var body: some View {
    ///     List(list.downloads) { Text($0.filename ?? $0.id) }.task { await list.follow(pawl) }
    /// }
    /// ```
    @MainActor
    public final class DownloadList: ObservableObject {
        /// The downloads, as in ``Updates``.
        @Published public private(set) var downloads: [Download] = []
        /// The reason why the list may be out of date; `nil` while it is current.
        @Published public private(set) var error: PawlError?

        /// Creates an empty list.
        public init() {}

        /// Keeps the list current until its task is cancelled or the service refuses it. Without a connection it tries again.
        public func follow(_ pawl: Pawl) async {
            do {
                var follower = Follower(pawl: pawl)
                try await follower.run(isPatient: true) { await self.show($0) }
            } catch {
                self.error = error as? PawlError
            }
        }

        private func show(_ news: Follower.News) {
            switch news {
            case .success(let list?): downloads = list
            case .success: error = nil
            case .failure(let reason): error = reason
            }
        }
    }
#endif
