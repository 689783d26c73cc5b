/// The programs of this package that were built with the tests.
public enum BuiltProgram {
    /// The path of a program by its target's name. It is beside the test bundle, which is an argument of the
    /// running program or the program itself.
    public static func path(_ name: String) -> String {
        let bundle = CommandLine.arguments.last { $0.contains(".xctest") }
        let program = bundle ?? CommandLine.arguments.first ?? ""
        let folder = program.split(separator: "/", omittingEmptySubsequences: false)
            .prefix { !$0.hasSuffix(".xctest") }
        return folder.joined(separator: "/") + "/" + name
    }
}
