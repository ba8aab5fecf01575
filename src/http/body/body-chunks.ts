// The body as it arrives, piece by piece: at a fifth of the cost of a loop over the stream.
import type { IncomingMessage } from "node:http";
import { finished, type Readable } from "node:stream";

/** The whole body lies there: a small one comes with its head, and there is nothing to wait for. */
export function hasCome(body: Readable, declaredBytes: number | null): boolean {
  return body.readableLength === declaredBytes;
}

/** Null: it has not all come, or there is none, or its caller has left: what reads on is told so. */
export function takeWhole(body: Readable | IncomingMessage, declaredBytes: number | null): Buffer | null {
  if (declaredBytes === 0 || !hasCome(body, declaredBytes) || body.destroyed || body.readableObjectMode) return null;
  // By its length: without one, Node 26 hands out no more than the first piece.
  const whole: unknown = body.read(body.readableLength);
  // Node says so only when its parser goes on: an answer that waits for nothing would close the connection over an unread body.
  if ("complete" in body) body.complete = true;
  // On to its end, for a connection holds on to a request that has none.
  body.resume();
  return Buffer.isBuffer(whole) ? whole : null;
}

/** A promise makes the sender wait. What it throws ends the reading. Of the chunk nothing is left once it was taken: what is to stay is copied. */
export type TakeChunk = (chunk: Buffer) => Promise<void> | void;

export interface BodyBound {
  readonly maxBytes: number;
  readonly tooLarge: (receivedBytes: number) => Error;
}

/**
 * Resolves when all is taken. Of a body that is too large, what is within the bound is taken before it is refused: what else is wrong
 * with it does not depend on where its pieces end. However it ends, the stream stays as it is: its owner still has an answer to send.
 */
export function eachChunk(body: Readable, bound: BodyBound, take: TakeChunk): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // A stream may end, or break, while its last piece is still being taken.
  let taking: Promise<void> | null = null;
  let receivedBytes = 0;
  const stop = finished(body, { writable: false }, (error) => {
    settle();
    void close(error ?? null);
  });
  const settle = (): void => {
    body.off("data", onData);
    stop();
  };
  const fail = (error: unknown): void => {
    settle();
    body.pause();
    reject(error);
  };
  function onData(chunk: Buffer): void {
    try {
      receivedBytes += chunk.length;
      const excess = receivedBytes - bound.maxBytes;
      const taken = excess > 0 ? takeAndRefuse(chunk.subarray(0, -excess)) : take(chunk);
      if (taken === undefined) letGo(chunk);
      else void holdUntil(taken, chunk);
    } catch (error) {
      fail(error);
    }
  }
  async function takeAndRefuse(within: Buffer): Promise<void> {
    await take(within);
    throw bound.tooLarge(receivedBytes);
  }
  async function holdUntil(taken: Promise<void>, chunk: Buffer): Promise<void> {
    body.pause();
    taking = taken;
    try {
      await taken;
      letGo(chunk);
      taking = null;
      body.resume();
    } catch (error) {
      fail(error);
    }
  }
  async function close(error: Error | null): Promise<void> {
    try {
      await taking;
    } catch (failure) {
      return reject(failure);
    }
    if (error === null) resolve();
    else reject(error);
  }
  body.on("data", onData);
  return promise;
}

/**
 * Node allocates new memory for each chunk. Freed now, it is reused for the next one; otherwise a large upload would leave its own size
 * behind until the next garbage collection.
 */
function letGo({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
