import FilmSources
import FoundationEssentials
import Glibc
import HTTPServer
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

/// The film service with an independent client.
@Suite(
    "Films by curl", .bounded, .enabled(if: Curl.isInstalled, "curl is not installed"))
struct FilmCurlTests {
    private let folder: TemporaryFolder
    private let server: HTTPServer
    private let base: String

    init() throws {
        folder = try TemporaryFolder()
        let library = try FilmLibrary(path: folder.file("films.db"), access: .creating)
        var configuration = FilmServiceConfiguration()
        configuration.isWritable = true
        configuration.writers = WriteAccess(trustsLocal: true)
        server = try HTTPServer(
            configuration: HTTPServer.Configuration(),
            handler: FilmService(library: library, configuration: configuration))
        try server.start()
        base = "http://127.0.0.1:\(server.ports.first.flatMap(\.self) ?? 0)"
        try Data(SampleImages.png).write(to: URL(filePath: folder.file("a.png")))
    }

    /// curl's output; its last line is the status.
    private func curl(_ arguments: String) -> String {
        defer { withExtendedLifetime((server, folder)) {} }
        return Curl.output("-w '\n%{http_code}' \(arguments)")
    }

    @Test("a film's whole life, in four kinds of body")
    func life() {
        let form = curl("-d 'film[id]=a' --data-urlencode 'film[title]=El Camión' \(base)/films")
        #expect(form.contains("\"title\":\"El Camión\"") && form.hasSuffix("\n201"))
        #expect(curl("-d 'film[id]=a' -d title=x -d 'film[title]=B' \(base)/films").hasSuffix("\n409"))
        let json = curl(
            "-X PATCH -H 'Content-Type: application/merge-patch+json' -d '{\"year\":2019}' \(base)/films/a")
        #expect(json.contains("\"year\":2019") && json.hasSuffix("\n200"))
        let xml = curl(
            "-X PUT -H 'Content-Type: application/xml' -d '<movie><title>X</title></movie>' \(base)/films/a.xml"
        )
        #expect(xml.contains("<title>X</title>") && xml.hasSuffix("\n200"))
        let multipart = curl("-X PATCH -F year=1922 -F poster=@\(folder.file("a.png")) \(base)/films/a")
        #expect(multipart.contains("\"poster\":\"a/poster\"") && multipart.hasSuffix("\n200"))
        #expect(curl("-o \(folder.file("b.png")) \(base)/films/a/poster").hasSuffix("200"))
        #expect(curl("-T \(folder.file("b.png")) \(base)/films/a/poster") == "\n204")
        #expect(curl("-X PUT -d value=8 \(base)/films/a/ratings/ann").hasSuffix("\n201"))
        #expect(curl("\(base)/films/top3").contains("\"rating\":8,"))
        #expect(curl("-X DELETE \(base)/films/a") == "\n204")
        #expect(curl("\(base)/films/a").hasSuffix("\n404"))
    }

    @Test("a body that its head refuses is not sent, and chunked bodies are read")
    func bodies() {
        let refused = curl(
            "-H 'Expect: 100-continue' -H 'Content-Type: text/plain' -o /dev/null -w ' %{http_code} %{size_upload}' "
                + "--data-binary @\(folder.file("films.db")) \(base)/films")
        #expect(refused == " 415 0")
        let chunked = curl(
            "-H 'Transfer-Encoding: chunked' -H 'Content-Type: application/json' -d '{\"title\":\"C\"}' \(base)/films"
        )
        #expect(chunked.hasSuffix("\n201"))
        #expect(curl("-X POST -H 'Content-Type: application/json' \(base)/films").hasSuffix("\n411"))
    }

    @Test("HEAD has the fields of GET, and a matching entity tag gets a 304")
    func head() {
        _ = curl("-H 'Content-Type: application/json' -d '{\"id\":\"a\",\"title\":\"A\"}' \(base)/films")
        let head = curl("-I \(base)/films/a").lowercased()
        #expect(head.contains("etag: ") && head.contains("content-length: ") && head.contains("vary: accept"))
        let tag = folder.file("tag")
        #expect(curl("--etag-save \(tag) \(base)/films/a").hasSuffix("\n200"))
        #expect(curl("--etag-compare \(tag) \(base)/films/a") == "\n304")
    }
}
