/// The service's jobs by identity.
///
/// A job takes about a kilobyte, so each lies by itself. In the table as well they would all be moved whenever it grows: a hundred thousand
/// of them for a third of a second, in which nobody is answered.
struct JobTable {
    private final class Cell {
        var job: DownloadJob?

        init(_ job: DownloadJob?) { self.job = job }
    }

    /// None of them is empty.
    private var cells: [DownloadID: Cell] = [:]

    /// All identities, in no particular order.
    var ids: some Collection<DownloadID> { cells.keys }

    /// All jobs, in no particular order.
    var all: some Sequence<DownloadJob> { cells.values.lazy.compactMap(\.job) }

    /// The job of a download; changed where it lies. Nil removes it.
    subscript(id: DownloadID) -> DownloadJob? {
        get { cells[id]?.job }
        set {
            if let cell = cells[id], newValue != nil { cell.job = newValue } else { settle(id, Cell(newValue)) }
        }
        _modify {
            // Holds no job itself: what a coroutine holds is allocated each time.
            let cell = cells[id] ?? Cell(nil)
            yield &cell.job
            settle(id, cell)
        }
    }

    /// Keeps a cell that is filled, and no other one.
    @inline(never)
    private mutating func settle(_ id: DownloadID, _ cell: Cell) {
        if cell.job == nil { cells[id] = nil } else if cells[id] == nil { cells[id] = cell }
    }
}
