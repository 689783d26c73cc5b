// What the article uses of Hummingbird 2 and of swift-http-types, which it exports, with the same signatures.

package import NIOCore

package struct HTTPResponse: Sendable {
    package struct Status: Sendable {
        package static let ok = Status()
        package static let badRequest = Status()
        package static let notFound = Status()
        package static let badGateway = Status()
        package static let gatewayTimeout = Status()
    }
}

package struct HTTPField: Sendable {
    package struct Name: Sendable, Hashable {
        package static let contentType = Name()
        package static let cacheControl = Name()
    }
}

package struct HTTPFields: Sendable, ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (HTTPField.Name, String)...) {}
}

package struct ResponseBody: Sendable {
    package init(byteBuffer: ByteBuffer) {}
}

package struct Response: Sendable {
    package init(status: HTTPResponse.Status, headers: HTTPFields, body: ResponseBody) {}
}

package struct HTTPError: Error {
    package init(_ status: HTTPResponse.Status, message: String) {}
}

package struct Request: Sendable {}

package struct Parameters: Sendable {
    package func require(_ name: String) throws -> String { fatalError("Hummingbird is not linked") }
}

package struct BasicRequestContext: Sendable {
    package let parameters = Parameters()
}

package final class Router {
    package init() {}
    @discardableResult
    package func get(
        _ path: String,
        use handler: @Sendable @escaping (Request, BasicRequestContext) async throws -> Response
    ) -> Self { self }
}
