import TestTraits
import Testing

@testable import marquee

@Suite("Options from the environment", .bounded)
struct EnvironmentOptionsTests {
    private let command = CommandSpecification(
        name: "serve", summary: "",
        options: [
            Option(name: "port", value: "N", help: ""),
            Option(name: "sign-key-file", value: "FILE", help: ""),
            Option(name: "source", value: "HOST", help: "", isRepeatable: true),
            Option(name: "writable", help: ""),
        ], readsEnvironment: true)

    private func read(_ words: String..., with environment: [String: String]) throws -> Arguments {
        try Arguments(["serve"] + words, commands: [command], environment: environment)
    }

    @Test("an option's variable is its name in capitals, and the command line overrides it")
    func values() throws {
        let environment = ["MARQUEE_SIGN_KEY_FILE": "/run/my keys", "MARQUEE_PORT": "8080"]
        #expect(try read(with: environment).value("sign-key-file") == "/run/my keys")
        #expect(try read(with: environment).number("port", in: 0...65_535) == 8080)
        #expect(try read("--port", "1", with: environment).values("port") == ["1"])
        #expect(try read(with: ["MARQUEE_PORT": ""]).value("port") == nil)
        #expect(try read("--help", with: ["MARQUEE_WRITABLE": "perhaps"]).has("help"))
    }

    @Test(
        "several values are separated by white space and commas",
        arguments: [
            ("a.example", ["a.example"]),
            ("a.example, b.example:81\n\tc", ["a.example", "b.example:81", "c"]),
            (" ,, ", []),
        ])
    func several(text: String, values: [String]) throws {
        #expect(try read(with: ["MARQUEE_SOURCE": text]).values("source") == values)
        #expect(try read("--source", "x", with: ["MARQUEE_SOURCE": text]).values("source") == ["x"])
    }

    @Test("header fields are separated by lines, because they contain spaces and commas")
    func lines() throws {
        let read = try read(with: ["MARQUEE_HEADER": "Accept-Language: de, en\nX-A: b c\n"])
        #expect(read.values("header") == ["Accept-Language: de, en", "X-A: b c"])
    }

    @Test("a flag is on or off, and another value is an error")
    func flags() throws {
        for text in ["1", "true", "YES", "on"] {
            #expect(try read(with: ["MARQUEE_WRITABLE": text]).has("writable"), "\(text)")
        }
        for text in ["0", "false", "No", "off", ""] {
            #expect(try !read(with: ["MARQUEE_WRITABLE": text]).has("writable"), "\(text)")
            #expect(try read("--writable", with: ["MARQUEE_WRITABLE": text]).has("writable"))
        }
        #expect(
            throws: UsageError.self, performing: { try read(with: ["MARQUEE_WRITABLE": "perhaps"]) })
        do { _ = try read(with: ["MARQUEE_WRITABLE": "2"]) } catch {
            #expect("\(error)".hasPrefix("MARQUEE_WRITABLE needs 1, true, yes or on"))
        }
    }

    @Test("an error names the variable for an option that came from there, and otherwise the option")
    func naming() throws {
        let both = try read("--port", "x", with: ["MARQUEE_SIGN_KEY_FILE": "f"])
        #expect(
            both.naming(UsageError("--port says nothing with --sign-key-file: or --source")).description
                == "--port says nothing with MARQUEE_SIGN_KEY_FILE: or --source")
    }

    @Test("unrelated variables are ignored")
    func foreign() throws {
        // Kubernetes sets the first for a service called marquee, and container images the second.
        let environment = ["MARQUEE_PORT": "tcp://10.0.0.11:80", "MARQUEE_VERSION": "0.1.0", "PORT": "1"]
        #expect(try read(with: environment).value("port") == nil)
        #expect(try !read(with: environment).has("version"))
    }

    @Test("only commands that say so read the environment")
    func others() throws {
        let list = try Arguments(
            ["list"], environment: ["MARQUEE_TOP": "x"])
        #expect(list.value("top") == nil)
        for command in [ServeCommand.specification, SignCommand.specification] {
            #expect(command.readsEnvironment)
            #expect(Help.text(for: command).contains("Every option may come from the environment"))
        }
    }
}
