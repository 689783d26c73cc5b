import FilmSources
import Films
import HTTPSemantics
import ImageCodecs

/// The pages for adding, editing and removing a film.
struct FilmFormPage {
    let page: Page
    let form: SentForm
    /// Where the form is sent, and where Cancel leads.
    let action, back: String

    /// The form for adding or editing a film.
    var html: [UInt8] {
        page.sheet(form.fault) { html in
            html.element(
                "form",
                ["class": "fields", "method": "post", "action": action, "enctype": "multipart/form-data"]
            ) { html in
                if !form.revision.isEmpty { revision(&html) }
                for member in FilmMember.form { control(member, &html) }
                form.field("poster", "Poster, a picture", &html) { html, common in
                    let types = ImageDecoders.standard.mediaTypes.joined(separator: ",")
                    html.void("input", common + ["type": "file", "accept": types])
                }
                buttons("Save", "button", &html)
            }
        }
    }

    /// Asks whether to remove a film.
    /// - Parameter question: the question, with everything that will be removed.
    func removal(_ question: String) -> [UInt8] {
        page.sheet(form.fault) { html in
            html.element("p", ["dir": "auto"], text: question)
            html.element("form", ["method": "post", "action": action]) { html in
                revision(&html)
                buttons("Remove", "button danger", &html)
            }
        }
    }

    private func control(_ member: FilmMember, _ html: inout HTML) {
        let definition = member.definition
        let label = [definition.label, definition.hint].compactMap(\.self).joined(separator: ", ")
        switch member.kind {
        case .required:
            form.input(member.name, label, ["type": "text", "dir": "auto", "required": ""], &html)
        case .text, .address, .texts:
            form.input(member.name, label, ["type": "text", "dir": "auto"], &html)
        case .whole(let range):
            form.number(
                member.name, label,
                ["min": "\(range.lowerBound)", "max": "\(range.upperBound)", "step": "1"], &html)
        case .number(let range):
            form.number(
                member.name, label,
                ["min": "\(Int(range.lowerBound))", "max": "\(Int(range.upperBound))", "step": "any"], &html)
        case .paragraphs:
            form.field(member.name, label, &html) { html, common in
                html.element(
                    "textarea", common + ["rows": "6", "cols": "60", "dir": "auto"],
                    // The parser drops the first line end of the element (the HTML standard, section 13.1.2.5).
                    text: "\n" + (form.values[member.name] ?? ""))
            }
        }
    }

    private func revision(_ html: inout HTML) {
        html.void("input", ["type": "hidden", "name": "revision", "value": form.revision])
    }

    private func buttons(_ label: String, _ style: String, _ html: inout HTML) {
        html.element("p", ["class": "actions"]) { html in
            html.element("button", ["class": style], text: label)
            html.link(back, "Cancel", class: "button quiet")
        }
    }
}

/// The forms of the pages. Each has its own address, because HTML forms have only GET and POST.
enum PageForm: Hashable, Sendable {
    /// What a form does with a film. Its name is the end of the form's path.
    enum Change: String, Sendable {
        case edit, rate, remove
    }

    case add
    case change(Change, of: String)

    /// Whether it is the form of a vote.
    var isVote: Bool { if case .change(.rate, _) = self { true } else { false } }

    /// The path of the form from the root.
    var path: String {
        switch self {
        case .add: "add"
        case .change(let change, let id): "films/\(PercentEncoding.encoded(id))/\(change.rawValue)"
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
        for member in FilmMember.form { values[member.name] = Self.text(document[member.name]) }
        revision = "\(film.revision)"
    }

    private static func text(_ value: JSONText?) -> String {
        guard let value, !value.isNull else { return "" }
        let text =
            value.string ?? value.elements.map { $0.compactMap(\.string).joined(separator: ", ") }
            ?? (value.number == nil ? "" : value.text)
        return HTML.shown(text.replacing("\r\n", with: "\n"))
    }

    /// Adds the faults that a refusal reports for fields.
    mutating func addFaults(_ refusal: FilmRefusal) {
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
            let isFilm = FilmMember(named: name) != nil
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
