/// A film with all members of its source in their order, unknown ones too. `Movie` is the checked view.
public struct FilmDocument: Sendable, Hashable {
    /// The members in order, with unique names.
    public private(set) var members: [JSONText.Member] = []

    /// Creates an empty document.
    public init() {}

    /// Reads an object.
    /// - Parameter allowsDuplicates: whether to keep the first of repeated members, as in a catalogue.
    /// - Throws: `.wrongShape` for another value, and for a repeated member.
    public init(json: JSONText, allowsDuplicates: Bool = false) throws(CatalogueError) {
        guard let members = json.members else {
            throw .wrongShape(expected: "an object with the members of a film", line: nil)
        }
        var names: Set<String> = []
        self.members.reserveCapacity(members.count)
        for member in members {
            if names.insert(member.name).inserted {
                self.members.append(member)
            } else if !allowsDuplicates {
                throw .wrongShape(expected: "the member \"\(member.name)\" once, not twice", line: nil)
            }
        }
    }

    /// The value of a member. Setting a new one appends it; nil removes it.
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

    /// Inserts a member before all others and removes an earlier one with its name.
    public mutating func putFirst(_ name: String, _ value: JSONText) {
        members.removeAll { $0.name == name }
        members.insert(JSONText.Member(name: name, value: value), at: 0)
    }

    /// Applies a JSON merge patch (RFC 7396): null removes, objects merge, any other value replaces.
    /// - Throws: `.wrongShape` for a patch that is not an object or repeats a member.
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
        // Losing the errors is right: reading fails only for values that are not objects, and these replace the target.
        guard let patch = try? FilmDocument(json: patch, allowsDuplicates: true) else { return patch }
        let target = target.flatMap { try? FilmDocument(json: $0, allowsDuplicates: true) } ?? FilmDocument()
        return JSONText(members: patch.merged(into: target).members)
    }

    /// Checks the film.
    /// - Parameters:
    ///   - id: the film's id if the document has none.
    ///   - position: its position in a catalogue, from 1, for errors.
    /// - Throws: the first error in a field.
    public func movie(id: String? = nil, position: Int? = nil) throws(CatalogueError) -> Movie {
        var fields = fields(position)
        if let id { fields.values[.id] = .text(id) }
        return try fields.movie()
    }

    /// All errors in its members; a missing id is none.
    public var problems: [FieldProblem] { fields(nil).problems() }

    /// Writes the film as a JSON object on one line, with members in order.
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
