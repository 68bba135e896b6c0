internal import System

/// Lists for clients that poll: the bytes of the last lists that were requested again before any download changed.
final class KeptLists: Sendable {
    private struct List {
        let query: [UInt8]
        /// The number of publications in the index before the list was made.
        let publications: UInt64
        /// The list; `nil` until it is requested again.
        let body: [UInt8]?
    }

    /// The number of lists, and the maximum length of each in bytes.
    private static let (maximum, longest) = (2, 256 * 1024)

    private let lists = Locked<[List]>([])

    /// The list of a query; `nil` if it is not kept, or if a download has changed since.
    /// - Parameters:
    ///   - query: The query as the client sent it.
    ///   - publications: The present number of publications.
    func find(_ query: ArraySlice<UInt8>, at publications: UInt64) -> [UInt8]? {
        lists.withLock { lists in
            for list in lists where list.publications == publications && list.query.elementsEqual(query) { return list.body }
            return nil
        }
    }

    /// Keeps a list, unless it is requested for the first time since a download changed.
    ///
    /// It must not have values that change between publications.
    /// - Parameter publications: The number of publications before the list was made. If the list has a later change, it is
    ///   not found, since the number never falls.
    func keep(_ body: [UInt8], _ query: ArraySlice<UInt8>, at publications: UInt64) {
        guard body.count <= Self.longest else { return }
        lists.withLock { lists in
            let index = lists.firstIndex { $0.query.elementsEqual(query) }
            let isRepeated = index.map { lists[$0].publications == publications } ?? false
            if let index { lists.remove(at: index) } else if lists.count == Self.maximum { lists.removeFirst() }
            var copy: [UInt8]?
            if isRepeated {
                // A copy of its own, since the loop uses the storage of the body again. It has no more capacity than it needs.
                var bytes: [UInt8] = []
                bytes.reserveCapacity(body.count)
                bytes += body
                copy = bytes
            }
            lists.append(List(query: Array(query), publications: publications, body: copy))
        }
    }
}
