// The type of bytes that can be opened as a stream several times, such as an upload in memory or in a file.

/**
 * `passing`: the reader is done with a chunk when it asks for the next one, so that all chunks may share one buffer. `whole`: the same, and bytes in memory
 * come in one chunk. Default: the reader may keep each chunk.
 */
export type ReadingMode = "passing" | "whole";

/** Each call reads from the beginning. */
export type OpenBytes = (mode?: ReadingMode) => AsyncIterable<Uint8Array>;
