// Bytes that are read in pieces, as often as they are needed.

/**
 * Reads from the beginning; each call anew. `passing`: the reader is done with a piece when it asks for the next one, so that all of them may
 * lie in the same memory. Else a piece is the reader's to keep.
 */
export type OpenBytes = (pieces?: "passing") => AsyncIterable<Uint8Array>;
