import FilmSources
import Films
import Foundation
import HTTPServer
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

/// The service with PHP's client, which knows only the WSDL.
@Suite(
    "Films by php-soap", .bounded, .enabled(if: Php.isInstalled, "php-cli or php-soap is not installed"))
struct SoapInteroperabilityTests {
    @Test("reads the WSDL, lists, adds, rates, edits, removes, and gets faults")
    func php() throws {
        let library = try FilmLibrary(inMemoryFor: "php")
        for number in 1...5 {
            var film = FilmDocument()
            film["title"] = JSONText("Film \(number)")
            _ = try library.insert(film, id: "film-\(number)")
        }
        var configuration = FilmServiceConfiguration()
        configuration.isWritable = true
        configuration.writers = WriteAccess(trustsLocal: true)
        let server = try HTTPServer(
            configuration: HTTPServer.Configuration(),
            handler: FilmService(library: library, configuration: configuration))
        try server.start()
        defer { server.stop() }
        let program = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Interoperability/films.php").standardizedFileURL.path
        let port = try #require(server.ports[0])
        let output = Php.output("\(Shell.quoted(program)) 'http://127.0.0.1:\(port)/soap?wsdl' 2>&1")
        #expect(output.contains("ok     remove\n") && !output.contains("failed"), "\(output)")
    }
}

private enum Php {
    static let isInstalled = output("-r 'echo class_exists(\"SoapClient\");'") == "1"

    /// PHP's output; empty if it is not installed. Blocks.
    static func output(_ arguments: String) -> String {
        Shell.output("php \(arguments)")
    }
}
