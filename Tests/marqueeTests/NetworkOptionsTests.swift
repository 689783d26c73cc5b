import FoundationEssentials
import TestSupport
import TestTraits
import Testing

@Suite("Network options hold for every request", .bounded)
struct NetworkOptionsTests {
    @Test("a catalogue and a manifest are fetched through the given proxy")
    func proxy() async throws {
        let films = #"[{"id":"a","title":"A","year":1920,"director":"D","poster":"p.png"}]"#
        for (words, body) in [
            (["list", "--catalogue", "http://films.invalid/x"], films),
            (["prewarm", "http://films.invalid/x"], "data:,x\n"),
        ] {
            let proxy = try ScriptedOrigin(.answering(Array(body.utf8)))
            let home = try TemporaryFolder()
            let run = try await Program.run(
                words + [
                    "--insecure-http", "films.invalid", "--proxy", proxy.url("").absoluteString, "-v",
                ], environment: ["XDG_CACHE_HOME": home.path])
            #expect(run.errorText.contains("http://films.invalid/x 200, "), "\(run.errorText)")
            #expect(proxy.heads.first?.hasPrefix("GET http://films.invalid/x HTTP/1.1") == true)
        }
    }

    @Test("--max-bytes limits cached files too")
    func maximum() async throws {
        let fixture = try Fixture()
        let url = fixture.base + "posters/1.png"
        #expect(try await fixture.run("fetch", url).status == 0)
        for options in [[], ["--offline"]] {
            let refused = try await Program.run(
                ["fetch", url, "--max-bytes", "69", "--json"] + options, environment: fixture.environment)
            #expect(refused.status == 2)
            let error = try #require(try JSON.lines(refused).first?["error"] as? [String: Any])
            #expect(error["code"] as? String == "too-large")
        }
        let prewarmed = try await fixture.run("prewarm", "-", "--max-bytes", "69", input: url)
        #expect(prewarmed.status == 2 && prewarmed.errorText.contains("larger than 69 bytes"))
        #expect(try await fixture.run("fetch", url, "--max-bytes", "70", "--offline").status == 0)
    }

    @Test("the error for a challenge names the variable with the credentials, then the option")
    func credentials() async throws {
        let origin = try ScriptedOrigin(
            .answering([], status: "401 Unauthorized", fields: "WWW-Authenticate: Basic realm=\"r\"\r\n"))
        let home = try TemporaryFolder()
        let run = try await Program.run(
            ["fetch", origin.url().absoluteString], environment: ["XDG_CACHE_HOME": home.path])
        let variable = try #require(run.errorText.firstRange(of: "MARQUEE_CREDENTIALS"))
        let flag = try #require(run.errorText.firstRange(of: "--header"))
        #expect(variable.upperBound < flag.lowerBound && run.errorLines.count == 1)
    }

    @Test(
        "--insecure-http accepts no patterns",
        arguments: ["*", "*.example.org", "a?", "a#b", "", "a b", "u@h"])
    func patterns(host: String) async throws {
        let run = try await Program.run(["list", "--insecure-http", host])
        #expect(run.status == 2)
        #expect(run.errorText.contains("--insecure-http needs a host name"))
    }
}
