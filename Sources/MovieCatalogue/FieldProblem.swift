/// An error in one member of a film.
public struct FieldProblem: Sendable, Hashable {
    /// The member's name.
    public let member: String
    /// The rest of a sentence that begins with the name: "must be text".
    public let detail: String

    /// Creates a problem.
    public init(member: String, detail: String) {
        self.member = member
        self.detail = detail
    }
}
