/// The pages' icon: a cut-paper moon over a hill.
enum Icon {
    static let name = "icon.svg"

    static let text = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
          <rect width="32" height="32" rx="5" fill="#14161a"/>
          <circle cx="16" cy="13" r="8.5" fill="#f0c54a"/>
          <path d="M3 27c6-10 10-10 14-4 4-5 8-5 12 4z" fill="#b3281f"/>
        </svg>

        """
}
