/// Where the programs of this package are that were built together with the tests.
public enum BuiltProgram {
    /// The path of a program by its target's name: beside the test bundle, which is given on the command
    /// line or is the running program itself.
    public static func path(_ name: String) -> String {
        let bundle = CommandLine.arguments.last { $0.contains(".xctest") }
        let program = bundle ?? CommandLine.arguments.first ?? ""
        let folder = program.split(separator: "/", omittingEmptySubsequences: false)
            .prefix { !$0.hasSuffix(".xctest") }
        return folder.joined(separator: "/") + "/" + name
    }
}
