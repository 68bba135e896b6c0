/// The owner of a location in object storage.
package struct ObjectOwner: Sendable {
    package var name: String
    /// The identity of the fleet's database, which differs from that of its copies.
    package var database: String
}
