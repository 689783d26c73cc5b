import FilmSources
import Films
import FoundationEssentials
import HTTPServer
import TestSupport
import TestTraits
import Testing

@testable import CatalogueService

/// Pages in a browser, which repairs malformed HTML in its own way.
@Suite(
    "Pages in Chromium", .bounded, .enabled(if: Shell.has("chromium"), "Debian's chromium is not installed"))
struct BrowserTests {
    /// The document after all its scripts have run.
    private func document(_ address: String, _ profile: String) -> String {
        let options = "--headless --no-sandbox --disable-gpu --user-data-dir='\(profile)' --dump-dom"
        return Shell.output("timeout 120 chromium \(options) '\(address)' 2>/dev/null")
    }

    @Test(
        "no title becomes an element",
        arguments: ["films", "films/h0", "films/h1/edit", "films?q=%3Cscript%3E"])
    func canary(target: String) throws {
        let folder = try TemporaryFolder()
        let library = try FilmLibrary(inMemoryFor: "the browser")
        for (index, title) in PageTests.hostile.enumerated() {
            var film = FilmDocument()
            for member in ["title", "director", "overview"] { film[member] = JSONText("x" + title) }
            _ = try library.insert(film, id: "h\(index)", poster: nil)
        }
        var configuration = FilmServiceConfiguration()
        configuration.isWritable = true
        configuration.writers = WriteAccess(trustsLocal: true)
        let server = try HTTPServer(
            configuration: HTTPServer.Configuration(),
            handler: FilmService(library: library, configuration: configuration))
        try server.start()
        defer { server.stop() }
        let port = server.ports.first.flatMap(\.self) ?? 0
        let text = document("http://127.0.0.1:\(port)/\(target)", folder.file("profile"))
        #expect(text.contains("</main>"))
        #expect(!text.contains("<script") && !text.contains("<img") && !text.contains("onerror=\"canary\""))
    }

    @Test("the address with the token leads to a page with forms")
    func login() throws {
        let folder = try TemporaryFolder()
        let token = WriteAccess.randomToken()
        var configuration = FilmServiceConfiguration()
        configuration.isWritable = true
        configuration.writers = WriteAccess([WriteAccess.Token(name: "browser", value: token)])
        let server = try HTTPServer(
            configuration: HTTPServer.Configuration(),
            handler: FilmService(
                library: try FilmLibrary(inMemoryFor: "the browser"), configuration: configuration))
        try server.start()
        defer { server.stop() }
        let port = server.ports.first.flatMap(\.self) ?? 0
        let text = document("http://127.0.0.1:\(port)/login?token=\(token)&to=add", folder.file("profile"))
        #expect(text.contains("name=\"film[title]\"") && text.contains("Sign out"))
    }
}
