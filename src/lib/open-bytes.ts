// The type of bytes that can be opened as a stream several times, such as an upload in memory or in a file.

/**
 * Each call reads from the beginning. `passing`: the reader is done with a chunk when it asks for the next one, so that all chunks may share one
 * buffer. Otherwise the reader may keep each chunk.
 */
export type OpenBytes = (pieces?: "passing") => AsyncIterable<Uint8Array>;
