import MovieCatalogue

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
        <xs:complexType name="Genres"><xs:sequence>
        <xs:element name="genre" type="xs:string" minOccurs="0" maxOccurs="unbounded"/>
        </xs:sequence></xs:complexType>
        <xs:complexType name="Member"><xs:annotation><xs:documentation>Another member of the film, as JSON.</xs:documentation></xs:annotation>
        <xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="name" type="xs:string" use="required"/></xs:extension></xs:simpleContent>
        </xs:complexType>
        \(SoapOperation.allCases.map(elements).joined(separator: "\n"))
        </xs:schema>
        """

    private static func member(_ name: String, _ type: String) -> String {
        "<xs:element name=\"\(name)\" type=\"\(type)\" minOccurs=\"0\" nillable=\"true\"/>"
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
