import FilmLibrary
import HTTPSemantics
import MovieCatalogue

/// The forms of the pages. Each has its own address, because HTML forms have only GET and POST.
enum PageForm: Hashable, Sendable {
    case add
    case edit(String)
    case rate(String)
    case remove(String)

    /// The path of the form from the root.
    var path: String {
        switch self {
        case .add: "add"
        case .edit(let id): "films/\(PercentEncoding.encoded(id))/edit"
        case .rate(let id): "films/\(PercentEncoding.encoded(id))/rate"
        case .remove(let id): "films/\(PercentEncoding.encoded(id))/remove"
        }
    }

    /// The form for a path below a film; nil if there is none.
    init?(_ name: String, of id: String) {
        switch name {
        case "edit": self = .edit(id)
        case "rate": self = .rate(id)
        case "remove": self = .remove(id)
        default: return nil
        }
    }
}

/// A form as sent, or as first shown: the values of its fields, and their faults.
struct SentForm: Sendable {
    var values: [String: String] = [:]
    /// Faults by field, in the form that follows the field's name: "must be a number".
    var faults: [String: String] = [:]
    /// The fault of the whole form.
    var fault: String?
    /// The film's revision when the form was shown.
    var revision = ""

    init() {}

    /// The fields of a form: `film[title]`, `revision`. Browsers send line ends as CR LF.
    init(_ form: FilmForm) {
        for field in form.fields {
            var name = field.name[...]
            if name.hasPrefix("film["), name.hasSuffix("]") { name = name.dropFirst(5).dropLast() }
            values[String(name)] = field.value.replacing("\r\n", with: "\n")
        }
        revision = values["revision"] ?? ""
    }

    /// A film in its form.
    init(_ film: StoredFilm) {
        let document = film.document
        for field in FilmFormPage.fields { values[field.name] = Self.text(document[field.name]) }
        revision = "\(film.revision)"
    }

    private static func text(_ value: JSONText?) -> String {
        guard let value, !value.isNull else { return "" }
        let text =
            value.string ?? value.elements.map { $0.compactMap(\.string).joined(separator: ", ") }
            ?? (value.number == nil ? "" : value.text)
        return HTML.shown(text.replacing("\r\n", with: "\n"))
    }

    /// Notes the faults that a refusal reports for fields.
    mutating func note(_ refusal: FilmRefusal) {
        fault = refusal.problem.detail
        for error in refusal.problem.errors { faults[String(error.pointer.dropFirst())] = error.detail }
    }

    /// A field with its label above and its fault below.
    func input(_ name: String, _ label: String, _ attributes: HTML.Attributes = [:], _ html: inout HTML) {
        field(name, label, &html) { html, common in
            html.void("input", common + ["value": values[name]] + attributes)
        }
    }

    /// A field for a number. Browsers show an empty field if the value is not a number, so an invalid value gets a text
    /// field.
    func number(_ name: String, _ label: String, _ attributes: HTML.Attributes, _ html: inout HTML) {
        let isNumber = faults[name] == nil
        input(
            name, label,
            isNumber ? ["type": "number"] + attributes : ["type": "text", "inputmode": "decimal"], &html)
    }

    /// - Parameter control: writes the input element with the given attributes.
    func field(
        _ name: String, _ label: String, _ html: inout HTML,
        control: (inout HTML, HTML.Attributes) -> Void
    ) {
        let fault = faults[name]
        html.element("div", ["class": "field field-\(name)"]) { html in
            html.element("label", ["for": name], text: label)
            let isFilm = FilmFormPage.fields.contains { $0.name == name } || name == "poster"
            control(
                &html,
                [
                    "id": name, "name": isFilm ? "film[\(name)]" : name,
                    "aria-invalid": fault == nil ? nil : "true",
                    "aria-describedby": fault == nil ? nil : "fault-\(name)",
                ])
            if let fault {
                html.element("p", ["class": "fault", "id": "fault-\(name)"]) { html in
                    html.text("\(label) ")
                    html.text(fault)
                }
            }
        }
    }
}
