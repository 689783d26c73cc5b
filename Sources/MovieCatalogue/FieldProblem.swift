/// What is wrong with one member of a film.
public struct FieldProblem: Sendable, Hashable {
    /// The member's name.
    public let member: String
    /// What is wrong, to be read after the name: "must be text".
    public let detail: String

    /// Makes a problem.
    public init(member: String, detail: String) {
        self.member = member
        self.detail = detail
    }
}
