package import Films
import HTTPSemantics

/// The operations of the service in SOAP. The element in a body has the operation's name; the element of the answer has
/// the same name with `Response` after it.
package enum SoapOperation: String, CaseIterable, Sendable {
    case top3AsXml = "Top3AsXml"
    case filmsAsXml = "FilmsAsXml"
    case film = "Film"
    case add = "Add"
    case rate = "Rate"
    case edit = "Edit"
    case remove = "Remove"

    package static let namespace = "urn:marquee:films"

    /// The value of SOAPAction.
    package var action: String { "\(Self.namespace)/\(rawValue)" }

    /// What it does, in one line.
    var summary: String {
        switch self {
        case .top3AsXml: "The three best films, as the text of the catalogue top3.xml."
        case .filmsAsXml:
            "A page of films, as the text of a catalogue in XML. next, if there is one, is the next page's after."
        case .film: "One film."
        case .add: "Adds a film. Without an id it gets one."
        case .rate: "Sets somebody's vote from 0 to 10; xsi:nil takes it back."
        case .edit:
            "Changes the members that are given; one that is empty or xsi:nil is removed. With the tag of an earlier answer only if the film has not changed since."
        case .remove:
            "Removes a film, its poster and its votes. With a tag only if the film has not changed since."
        }
    }

    /// The content of the request's element, in XML Schema.
    var parameters: String {
        switch self {
        case .top3AsXml: ""
        case .filmsAsXml:
            Self.optional("limit", "xs:int") + Self.optional("after", "xs:string")
                + Self.optional("q", "xs:string") + Self.optional("sort", "xs:string")
        case .film: Self.required("id", "xs:string")
        case .add: Self.required("film", "films:FilmRecord")
        case .rate:
            Self.required("id", "xs:string") + Self.required("rater", "xs:string")
                + "<xs:element name=\"value\" type=\"xs:double\" nillable=\"true\"/>"
        case .edit: Self.required("id", "xs:string") + Self.required("film", "films:FilmRecord")
        case .remove: Self.required("id", "xs:string") + Self.optional("tag", "xs:string")
        }
    }

    /// The content of the answer's element, in XML Schema.
    var results: String {
        switch self {
        case .top3AsXml: Self.required(resultName, "xs:string")
        case .filmsAsXml: Self.required(resultName, "xs:string") + Self.optional("next", "xs:string")
        case .film, .add, .rate, .edit: Self.required(resultName, "films:FilmRecord")
        case .remove: ""
        }
    }

    package var resultName: String { rawValue + "Result" }

    private static func required(_ name: String, _ type: String) -> String {
        "<xs:element name=\"\(name)\" type=\"\(type)\"/>"
    }

    private static func optional(_ name: String, _ type: String) -> String {
        "<xs:element name=\"\(name)\" type=\"\(type)\" minOccurs=\"0\" nillable=\"true\"/>"
    }
}

/// A film in a message: its common members as elements, all others as JSON.
///
///     <film><title>Faust</title><year>1926</year><genres><genre>Drama</genre></genres><overview xsi:nil="true"/>
///       <member name="seen">true</member></film>
package enum SoapFilm {
    /// The common members: those whose values are checked, and the library's own.
    static let members = FilmMember.allCases.filter { $0.definition.rule != .lenient }

    /// The common member with a name; nil for any other.
    private static func member(_ name: String) -> FilmMember? {
        FilmMember(named: name).flatMap { members.contains($0) ? $0 : nil }
    }

    /// A film as an element without a prefix.
    /// - Parameter tag: the entity tag without its quotes.
    package static func xml(_ film: FilmDocument, tag: String? = nil, as name: String) -> String {
        var (usual, others) = ("", "")
        for member in members {
            if let value = film[member.name] { usual += element(member, value) ?? "" }
        }
        for member in film.members {
            if let common = self.member(member.name), element(common, member.value) != nil { continue }
            others +=
                "<member name=\"\(XMLText.escaped(member.name))\">\(XMLText.escaped(member.value.text))</member>"
        }
        let attribute = tag.map { " tag=\"\(XMLText.escaped($0))\"" } ?? ""
        return "<\(name)\(attribute)>\(usual)\(others)</\(name)>"
    }

    /// A common member; nil if its value has another type.
    private static func element(_ member: FilmMember, _ value: JSONText) -> String? {
        if value.isNull { return "<\(member.name) xsi:nil=\"true\"/>" }
        let content: String
        switch member.kind {
        case .whole:
            guard let number = value.number.flatMap({ Int32(exactly: $0) }) else { return nil }
            content = "\(number)"
        case .number:
            guard value.number != nil else { return nil }
            content = value.text
        case .texts(let item):
            guard let texts = value.elements, texts.allSatisfy({ $0.string != nil }) else { return nil }
            content = texts.map { "<\(item)>\(XMLText.escaped($0.string ?? ""))</\(item)>" }.joined()
        case .required, .text, .paragraphs, .address:
            guard let text = value.string else { return nil }
            content = XMLText.escaped(text)
        }
        return "<\(member.name)>\(content)</\(member.name)>"
    }

    /// Reads a film. The first of two elements with one name counts.
    /// - Parameter keepsNull: whether an element that is empty or `xsi:nil` means null; otherwise it is ignored.
    package static func document(_ element: XMLElement, keepsNull: Bool) -> FilmDocument {
        let members = element.children.compactMap { child in
            let value = value(child)
            return value.isNull && !keepsNull ? nil : JSONText.Member(name: name(child), value: value)
        }
        // Ignored: an object that was just made can be read.
        return (try? FilmDocument(json: JSONText(members: members), allowsDuplicates: true)) ?? FilmDocument()
    }

    /// The member that an element of a film is.
    static func name(_ element: XMLElement) -> String {
        element.localName == "member" ? element.attribute("name") ?? "member" : element.localName
    }

    private static func value(_ element: XMLElement) -> JSONText {
        if element.isNil || element.children.isEmpty && element.text.isEmpty { return .null }
        switch member(element.localName)?.kind {
        case .texts(let item):
            return JSONText(
                elements: element.children.filter { $0.localName == item }.map { JSONText($0.text) })
        case .whole, .number: return number(element.text)
        case .required, .text, .paragraphs, .address: return JSONText(element.text)
        // Ignored: a text that is not JSON stands for itself.
        case nil: return (try? JSONText(parsing: Array(element.text.utf8))) ?? JSONText(element.text)
        }
    }

    /// A number of XML Schema. Other text stays text, and the check of the film refuses it.
    static func number(_ text: String) -> JSONText {
        FilmDocument.number(text.filter { !$0.isWhitespace }) ?? JSONText(text)
    }
}

/// The description of the service in WSDL 1.1 (W3C Note of 15 March 2001): document/literal wrapped, so that tools
/// generate functions from it. It follows the Basic Profile 1.1 of WS-I.
enum SoapDescription {
    /// - Parameter location: the address of the service.
    static func text(location: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <wsdl:definitions name="Films" targetNamespace="\(SoapOperation.namespace)" xmlns:films="\(SoapOperation.namespace)" \
        xmlns:problem="\(problemNamespace)" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" \
        xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
        <wsdl:types>
        \(problemSchema)
        \(filmSchema)
        </wsdl:types>
        <wsdl:message name="Problem"><wsdl:part name="problem" element="problem:problem"/></wsdl:message>
        \(SoapOperation.allCases.map(messages).joined(separator: "\n"))
        <wsdl:portType name="FilmsPort">
        \(SoapOperation.allCases.map(abstract).joined(separator: "\n"))
        </wsdl:portType>
        <wsdl:binding name="FilmsBinding" type="films:FilmsPort">
        <soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
        \(SoapOperation.allCases.map(bound).joined(separator: "\n"))
        </wsdl:binding>
        <wsdl:service name="Films">
        <wsdl:port name="FilmsPort" binding="films:FilmsBinding"><soap:address location="\(XMLText.escaped(location))"/></wsdl:port>
        </wsdl:service>
        </wsdl:definitions>

        """
    }

    /// The namespace of problem details in XML (RFC 9457 appendix B).
    private static let problemNamespace = "urn:ietf:rfc:7807"

    private static let problemSchema = """
        <xs:schema targetNamespace="\(problemNamespace)" xmlns="\(problemNamespace)" elementFormDefault="qualified">
        <xs:element name="problem"><xs:complexType><xs:sequence>
        <xs:element name="type" type="xs:string"/><xs:element name="title" type="xs:string"/>
        <xs:element name="status" type="xs:int"/><xs:element name="detail" type="xs:string"/>
        <xs:element name="line" type="xs:int" minOccurs="0"/><xs:element name="column" type="xs:int" minOccurs="0"/>
        <xs:element name="id" type="xs:string" minOccurs="0"/><xs:element name="path" type="xs:string" minOccurs="0"/>
        <xs:element name="errors" type="Errors" minOccurs="0"/>
        </xs:sequence></xs:complexType></xs:element>
        <xs:complexType name="Errors"><xs:sequence><xs:element name="i" type="Error" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
        <xs:complexType name="Error"><xs:sequence>
        <xs:element name="pointer" type="xs:string"/><xs:element name="detail" type="xs:string"/>
        </xs:sequence></xs:complexType>
        </xs:schema>
        """

    private static let filmSchema = """
        <xs:schema targetNamespace="\(SoapOperation.namespace)" elementFormDefault="qualified">
        <xs:complexType name="FilmRecord"><xs:sequence>
        \(SoapFilm.members.map(member).joined(separator: "\n"))
        <xs:element name="member" type="films:Member" minOccurs="0" maxOccurs="unbounded"/>
        </xs:sequence><xs:attribute name="tag" type="xs:string"/></xs:complexType>
        \(SoapFilm.members.compactMap(listType).joined(separator: "\n"))
        <xs:complexType name="Member"><xs:annotation><xs:documentation>Another member of the film, as JSON.</xs:documentation></xs:annotation>
        <xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="name" type="xs:string" use="required"/></xs:extension></xs:simpleContent>
        </xs:complexType>
        \(SoapOperation.allCases.map(elements).joined(separator: "\n"))
        </xs:schema>
        """

    private static func member(_ member: FilmMember) -> String {
        let type =
            switch member.kind {
            case .required, .text, .paragraphs, .address: "xs:string"
            case .whole: "xs:int"
            case .number: "xs:double"
            case .texts: "films:" + listName(member)
            }
        return "<xs:element name=\"\(member.name)\" type=\"\(type)\" minOccurs=\"0\" nillable=\"true\"/>"
    }

    /// The type of a list: `Genres`. Nil for a member that is not a list.
    private static func listType(_ member: FilmMember) -> String? {
        member.listElement.map { item in
            """
            <xs:complexType name="\(listName(member))"><xs:sequence>
            <xs:element name="\(item)" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
            </xs:sequence></xs:complexType>
            """
        }
    }

    private static func listName(_ member: FilmMember) -> String {
        member.name.prefix(1).uppercased() + member.name.dropFirst()
    }

    private static func elements(_ operation: SoapOperation) -> String {
        [(operation.rawValue, operation.parameters), (operation.rawValue + "Response", operation.results)]
            .map { name, content in
                "<xs:element name=\"\(name)\"><xs:complexType><xs:sequence>\(content)</xs:sequence></xs:complexType></xs:element>"
            }.joined(separator: "\n")
    }

    private static func messages(_ operation: SoapOperation) -> String {
        ["", "Response"].map { suffix in
            let name = operation.rawValue + suffix
            return
                "<wsdl:message name=\"\(name)\"><wsdl:part name=\"parameters\" element=\"films:\(name)\"/></wsdl:message>"
        }.joined(separator: "\n")
    }

    private static func abstract(_ operation: SoapOperation) -> String {
        let name = operation.rawValue
        return """
            <wsdl:operation name="\(name)"><wsdl:documentation>\(XMLText.escaped(operation.summary))</wsdl:documentation>
            <wsdl:input message="films:\(name)"/><wsdl:output message="films:\(name)Response"/>\
            <wsdl:fault name="Problem" message="films:Problem"/></wsdl:operation>
            """
    }

    private static func bound(_ operation: SoapOperation) -> String {
        """
        <wsdl:operation name="\(operation.rawValue)"><soap:operation soapAction="\(operation.action)" style="document"/>
        <wsdl:input><soap:body use="literal"/></wsdl:input><wsdl:output><soap:body use="literal"/></wsdl:output>\
        <wsdl:fault name="Problem"><soap:fault name="Problem" use="literal"/></wsdl:fault></wsdl:operation>
        """
    }
}
