/// The service's jobs by identity.
///
/// A job takes about a kilobyte, so each lies by itself. In the table as well they would all be moved whenever it grows: a hundred thousand
/// of them for a third of a second, in which nobody is answered.
struct JobTable {
    private final class Cell {
        /// Nil only while it is taken out.
        var job: DownloadJob?

        init(_ job: DownloadJob) { self.job = job }
    }

    private var cells: [DownloadID: Cell] = [:]

    /// All identities, in no particular order.
    var ids: some Collection<DownloadID> { cells.keys }

    /// All jobs, in no particular order.
    var all: some Sequence<DownloadJob> { cells.values.lazy.compactMap(\.job) }

    /// The job of a download; changed where it lies. Nil removes it.
    subscript(id: DownloadID) -> DownloadJob? {
        get { cells[id]?.job }
        _modify {
            if let cell = cells[id] {
                yield &cell.job
                if cell.job == nil { cells[id] = nil }
            } else {
                var job: DownloadJob?
                yield &job
                if let job { cells[id] = Cell(job) }
            }
        }
    }
}
