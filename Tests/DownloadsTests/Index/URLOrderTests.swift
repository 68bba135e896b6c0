import Testing

@testable import DownloadCore
@testable import DownloadIndex

@Suite("The order of downloads by URL")
struct URLOrderTests {
    private static let states: [DownloadState] = [.completed, .queued, .failed, .cancelled]

    private func entry(_ row: Int, _ url: Int, _ state: DownloadState) -> IndexEntry {
        let id = RecordID(value: UInt128(row + 1))
        var download = Download(id: id, url: "http://a/\(url)", state: state, createdAt: id.createdAt)
        download.fileMissing = state == .completed && row % 3 == 0
        return IndexEntry(download, counters: nil, queue: QueueStatus())
    }

    /// - Parameter urls: The number of URLs of 3,000 downloads: from nearly one for each to one for all.
    @Test("Finds the downloads of each URL and standing after any changes", arguments: [100_000, 3_000, 100, 1])
    func model(_ urls: Int) throws {
        var generator = SystemRandomNumberGenerator()
        var entries = IndexEntries()
        func random(_ row: Int) throws -> IndexEntry {
            entry(row, Int.random(in: 0..<urls, using: &generator), try #require(Self.states.randomElement(using: &generator)))
        }
        for row in 0..<3_000 { _ = entries.append(try random(row)) }
        var order = URLOrder()
        var present: Set<Row> = []
        for step in 0..<12_000 {
            let row = Row(Int.random(in: 0..<3_000, using: &generator))
            if step < 3_000 || !present.contains(row) {
                if present.insert(row).inserted { order.insert(row, in: entries) }
            } else if step % 5 == 0 {
                present.remove(row)
                order.remove(row, in: entries)
            } else {
                let former = try #require(entries[row])
                var new = try random(Int(row))
                // Most changes keep the URL.
                if step % 7 > 0 {
                    new = entry(Int(row), Int(former.download.url.dropFirst(9)) ?? 0, new.download.state)
                }
                let position = order.position(of: row, changingTo: new, in: entries)
                entries[row] = new
                if let position { order.move(row, from: position, formerlyIn: former.group, in: entries) }
            }
            guard step % 1_500 == 1_499 else { continue }
            for order in [order] + (present.count == 3_000 ? [URLOrder(entries)] : []) { compare(order, present, entries) }
        }
    }

    @Test("Finds each download of a restored order after changes of its standing")
    func restored() throws {
        var entries = IndexEntries()
        for row in 0..<3_000 { _ = entries.append(entry(row, row % 2_990, .queued)) }
        var order = URLOrder(entries)
        let present = Set((0..<3_000).map { Row($0) })
        compare(order, present, entries)
        for state in [DownloadState.cancelled, .queued, .completed] {
            for row in present {
                let former = try #require(entries[row])
                let new = entry(Int(row), Int(row) % 2_990, state)
                let position = order.position(of: row, changingTo: new, in: entries)
                entries[row] = new
                if let position { order.move(row, from: position, formerlyIn: former.group, in: entries) }
            }
            compare(order, present, entries)
        }
    }

    private func compare(_ order: URLOrder, _ present: Set<Row>, _ entries: IndexEntries) {
        let known = present.compactMap { entries[$0] }
        for (url, downloads) in Dictionary(grouping: known, by: \.download.url) {
            for standing in Standing.allCases {
                let found = order.newest(ofURL: url, URLGroup(url, standing), atMost: 4_000, in: entries)
                let expected = downloads.filter { Standing($0.download) == standing }.map(\.download.id).sorted(by: >)
                guard found.map(\.download.id) == expected else {
                    Issue.record("\(url) \(standing): found \(found.map(\.download.id)), not \(expected)")
                    return
                }
            }
        }
    }
}
