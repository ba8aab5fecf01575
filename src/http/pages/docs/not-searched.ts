// Marks code blocks that the search of the documentation ignores.

/** At the end of the line that opens the block. */
export const NOT_SEARCHED = "example";
