/// Writes groups of changes to a database, and reads what is kept there. It belongs to one thread at a time, as its connection does;
/// ``GroupCommitter`` drives it.
protocol RecordWriter: AnyObject {
    /// Reads everything, records in order of creation. Called once, before any write.
    func load() throws(StoreError) -> StoredContents

    /// The records with these identities; those that there are none of are left out.
    func records(_ ids: [DownloadID]) throws(StoreError) -> [DownloadRecord]

    /// A page of the messages to webhooks that this run has to deliver, from an identity on: those with a wanted URL.
    func deliveries(from id: DownloadID, if isWanted: (String) -> Bool) throws(StoreError) -> DeliveryPage

    /// Writes all the changes durably, or none. Without any, it shows the database that this run lives.
    /// - Parameter isRepeated: whether the last call was for the same changes, and was interrupted.
    /// - Throws: `.interrupted` if that cannot be known yet: it is to be called again with the same changes.
    func commit(_ changes: [StoreChange], isRepeated: Bool) throws(StoreError)

    /// Sees to it that there is room for changes to the records when there is none for anything else. Called before what needs room is
    /// written, and behind each group.
    /// - Returns: whether there is; true if it cannot be known.
    func reserveRoom() -> Bool

    /// How long may pass without a commit; `nil`: for ever.
    var longestSilence: Duration? { get }

    /// This one, if the database is a fleet's.
    var shared: PostgresRecordWriter? { get }

    /// Closes the database, and lets go of all that was held for it. Nothing is called afterwards.
    func close()
}

extension RecordWriter {
    var shared: PostgresRecordWriter? { nil }
}
