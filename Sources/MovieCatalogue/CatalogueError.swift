/// Why bytes are not a catalogue or a manifest. Lines count from 1. In JSON the line of a value is unknown; films have
/// positions instead.
public enum CatalogueError: Error, Sendable, Hashable {
    /// The document is empty or only white space.
    case empty
    /// More bytes or values than `limit`.
    case tooLarge(limit: Int, unit: String)
    /// The byte at this offset is not UTF-8.
    case notUTF8(offset: Int)
    /// The document declares another encoding than UTF-8.
    case unsupportedEncoding(name: String, line: Int)
    /// The content is in no known format.
    case unrecognized
    /// The JSON is malformed, near this line and column if known.
    case malformedJSON(reason: String, line: Int?, column: Int? = nil)
    /// The XML is malformed at, or shortly before, this column.
    case malformedXML(reason: String, line: Int, column: Int? = nil)
    /// A document type declaration: its entities can expand a few bytes to any size.
    case doctypeRefused(line: Int)
    /// The document is HTML.
    case webPage
    /// Well-formed, but not a catalogue or a manifest.
    case wrongShape(expected: String, line: Int?)
    /// A film lacks a required field.
    case missingField(movie: String, field: String, line: Int?)
    /// A field has a value of the wrong type.
    case wrongType(movie: String, field: String, expected: String, line: Int?)
    /// Two films with one id.
    case duplicateIdentifier(id: String, line: Int?)
}

extension CatalogueError: CustomStringConvertible {
    /// One line: what is wrong, where, and what to do. Escape it for a terminal: it may quote the document.
    public var description: String {
        switch self {
        case .empty: "it is empty; it should hold films as JSON or XML"
        case .tooLarge(let limit, let unit): "it is too large: at most \(limit) \(unit) are read; split it"
        case .notUTF8(let offset): "byte \(offset) is not UTF-8; save it as UTF-8"
        case .unsupportedEncoding(let name, let line):
            at(line) + "the encoding \(name) is not supported; save it as UTF-8"
        case .unrecognized: "it is neither JSON nor XML; a catalogue begins with {, [ or <"
        case .malformedJSON(let reason, let line, let column):
            at(line, column: column) + "not JSON: \(reason)"
        case .malformedXML(let reason, let line, let column):
            at(line, column: column) + "not well-formed XML: \(reason)"
        case .doctypeRefused(let line): at(line) + "a DOCTYPE is not accepted; remove it"
        case .webPage: "it is a web page, not a list of films; check the address in a browser"
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
