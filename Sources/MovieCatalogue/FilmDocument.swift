/// One film as its source has it: every member in its order, also those that are not known here. A `Movie` is a view of it.
public struct FilmDocument: Sendable, Hashable {
    /// The members in their order; no two share a name.
    public private(set) var members: [JSONText.Member] = []

    /// A film that says nothing.
    public init() {}

    /// Reads an object.
    /// - Parameter takesRepeated: whether of two members with one name the first counts, as in a catalogue.
    /// - Throws: `.wrongShape` for what is no object, and for a member that stands there twice.
    public init(json: JSONText, takesRepeated: Bool = false) throws(CatalogueError) {
        guard let members = json.members else {
            throw .wrongShape(expected: "an object with the members of a film", line: nil)
        }
        var names: Set<String> = []
        self.members.reserveCapacity(members.count)
        for member in members {
            if names.insert(member.name).inserted {
                self.members.append(member)
            } else if !takesRepeated {
                throw .wrongShape(expected: "the member \"\(member.name)\" once, not twice", line: nil)
            }
        }
    }

    /// The value of a member. A new one comes last; nil removes it.
    public subscript(name: String) -> JSONText? {
        get { members.first { $0.name == name }?.value }
        set {
            let index = members.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): members[index] = JSONText.Member(name: name, value: value)
            case (nil, let value?): members.append(JSONText.Member(name: name, value: value))
            case (let index?, nil): members.remove(at: index)
            case (nil, nil): break
            }
        }
    }

    /// Puts a member before all others, in place of one that has its name.
    public mutating func putFirst(_ name: String, _ value: JSONText) {
        members.removeAll { $0.name == name }
        members.insert(JSONText.Member(name: name, value: value), at: 0)
    }

    /// Applies a merge patch (RFC 7396): null removes, objects are merged, all else replaces.
    /// - Throws: `.wrongShape` for a patch that is no object, or has a member twice.
    public mutating func merge(_ patch: JSONText) throws(CatalogueError) {
        let patch = try FilmDocument(json: patch)
        members = patch.merged(into: self).members
    }

    private func merged(into target: FilmDocument) -> FilmDocument {
        var target = target
        for member in members {
            target[member.name] =
                member.value.isNull ? nil : Self.merged(member.value, into: target[member.name])
        }
        return target
    }

    private static func merged(_ patch: JSONText, into target: JSONText?) -> JSONText {
        // An object always reads when its repeated members are taken.
        guard let patch = try? FilmDocument(json: patch, takesRepeated: true) else { return patch }
        let target = target.flatMap { try? FilmDocument(json: $0, takesRepeated: true) } ?? FilmDocument()
        return JSONText(members: patch.merged(into: target).members)
    }

    /// The checked view.
    /// - Parameters:
    ///   - id: the film's id where the document does not have it.
    ///   - position: its place among others from 1, for errors.
    /// - Throws: what is wrong with the first field that is not right.
    public func movie(id: String? = nil, position: Int? = nil) throws(CatalogueError) -> Movie {
        var fields = fields(position)
        if let id { fields.values[.id] = .text(id) }
        return try fields.movie()
    }

    /// All that is wrong with it; a missing id is not.
    public var problems: [FieldProblem] { fields(nil).problems() }

    /// One JSON object on one line, its members in their order.
    public func json() -> String { JSONText(members: members).text }

    private func fields(_ position: Int?) -> MovieFields {
        var fields = MovieFields(position: position, line: nil)
        for member in members {
            guard let field = MovieFields.Field(rawValue: member.name), !member.value.isNull else { continue }
            fields.values[field] = MovieFields.Value(member.value, of: field)
        }
        return fields
    }
}

extension MovieFields.Value {
    fileprivate init(_ value: JSONText, of field: MovieFields.Field) {
        if let text = value.string {
            self = .text(text)
        } else if let number = value.number {
            self = .number(number)
        } else if let elements = value.elements {
            let texts = elements.compactMap(\.string)
            self = texts.count == elements.count ? .texts(texts) : .other
        } else {
            self = .other
        }
    }
}
