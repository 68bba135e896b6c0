/// The owner of a location in object storage.
package struct ObjectOwner: Sendable {
    package var name: String
    /// The identity of the fleet's database. Its copies have others.
    package var database: String
}
