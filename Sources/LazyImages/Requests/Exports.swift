// A program needs one import only: the types of these modules stand in the library's own interface.
@_exported public import HTTPSemantics
@_exported public import ImageCodecs
