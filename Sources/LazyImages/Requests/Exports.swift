// A program needs one import: the library's interface uses the types of these modules.
@_exported public import HTTPSemantics
@_exported public import ImageCodecs
