/// Why bytes are not a catalogue or a manifest. Lines count from 1; of JSON, where a value stands is not known, and
/// films go by their number instead.
public enum CatalogueError: Error, Sendable, Hashable {
    /// There is nothing in it but white space.
    case empty
    /// More bytes than are read (`limit`), or more values than are kept.
    case tooLarge(limit: Int, unit: String)
    /// A byte at this offset is not UTF-8.
    case notUTF8(offset: Int)
    /// The document says it is in an encoding that is not UTF-8.
    case unsupportedEncoding(name: String, line: Int)
    /// It begins like none of the forms that are read.
    case unrecognised
    /// The JSON breaks the grammar, at about this line and column if they can be told.
    case malformedJSON(reason: String, line: Int?, column: Int? = nil)
    /// The XML breaks the grammar here, or shortly before this column.
    case malformedXML(reason: String, line: Int, column: Int? = nil)
    /// A document type declaration, whose entities can make any size out of a few bytes.
    case doctypeRefused(line: Int)
    /// It is HTML.
    case webPage
    /// Well formed, but not the shape of a catalogue or a manifest.
    case wrongShape(expected: String, line: Int?)
    /// A film lacks what every film has.
    case missingField(movie: String, field: String, line: Int?)
    /// A film's field holds something else than it must.
    case wrongType(movie: String, field: String, expected: String, line: Int?)
    /// Two films with one id.
    case duplicateIdentifier(id: String, line: Int?)
}

extension CatalogueError: CustomStringConvertible {
    /// One line: what is wrong, where, and what to do. Parts may come from the document, so it is not
    /// safe for a terminal as it is.
    public var description: String {
        switch self {
        case .empty: "it is empty; it should hold films as JSON or XML, or a list of addresses"
        case .tooLarge(let limit, let unit): "it is too large: at most \(limit) \(unit) are read; split it"
        case .notUTF8(let offset): "byte \(offset) is not UTF-8; save it as UTF-8"
        case .unsupportedEncoding(let name, let line):
            at(line) + "the encoding \(name) is not read; save it as UTF-8"
        case .unrecognised: "it is neither JSON nor XML; a catalogue begins with {, [ or <"
        case .malformedJSON(let reason, let line, let column):
            at(line, column: column) + "not JSON: \(reason)"
        case .malformedXML(let reason, let line, let column):
            at(line, column: column) + "not well-formed XML: \(reason)"
        case .doctypeRefused(let line): at(line) + "a DOCTYPE is not accepted; remove it"
        case .webPage: "it is a web page, which lists no films; check the address, in a browser if need be"
        case .wrongShape(let expected, let line): at(line) + "expected \(expected)"
        case .missingField(let movie, let field, let line):
            at(line) + "\(movie) has no \(field); every film needs one"
        case .wrongType(let movie, let field, let expected, let line):
            at(line) + "the \(field) of \(movie) must be \(expected)"
        case .duplicateIdentifier(let id, let line):
            at(line) + "the id \"\(id)\" is used twice; every film needs its own"
        }
    }

    private func at(_ line: Int?, column: Int? = nil) -> String {
        line.map { "line \($0)" + (column.map { ", column \($0)" } ?? "") + ": " } ?? ""
    }
}
