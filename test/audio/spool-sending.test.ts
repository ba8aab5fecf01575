// An upload that ends while a socket still sends it: nothing of the next one in its memory reaches the provider.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { createBlockPool, createSpoolMemory } from "../../src/audio/spool-memory.ts";
import { socketServer } from "../outbound/loopback.ts";
import { failureOf, outboundFor } from "../outbound/way-out.ts";

/** More than the buffers of a connection on loopback. */
const SIZE_BYTES = 32 * 1_048_576;
const [OWN, OTHER] = [1, 2] as const;

for (const mode of ["passing", "whole"] as const) {
  test(`measuring.spool-isolation: a provider that is still being sent an upload gets nothing of the one that follows it (${mode})`, async (t) => {
    const outbound = outboundFor(t);
    const connected = Promise.withResolvers<Socket>();
    const url = await socketServer(t, (socket) => {
      socket.pause();
      connected.resolve(socket);
    });
    const pool = createBlockPool({ largestBytes: SIZE_BYTES, sharedBytes: 2 * SIZE_BYTES });
    const first = createSpoolMemory(pool, SIZE_BYTES);
    assert(first.add(Buffer.alloc(SIZE_BYTES, OWN)));
    const body = { sizeBytes: SIZE_BYTES, open: () => first.read(mode) };
    const failure = failureOf(outbound.exchange({ trust: "operator", method: "POST", url, headers: {}, body }));
    const socket = await connected.promise;
    // Until the buffers are full and the socket waits with the rest of a piece.
    for (let turn = 0; turn < 2_000; turn++) await new Promise((resolve) => setImmediate(resolve));
    first.letGo();
    const second = createSpoolMemory(pool, SIZE_BYTES);
    assert(second.add(Buffer.alloc(SIZE_BYTES, OTHER)));
    const { own, other } = await countReceived(socket);
    assert.equal(other, 0);
    assert(mode === "whole" ? own === SIZE_BYTES : own < SIZE_BYTES, `${own} bytes`);
    assert.equal((await failure).failure, "connection");
  });
}

/** Until the sender closes the connection or has sent everything. */
function countReceived(socket: Socket): Promise<{ readonly own: number; readonly other: number }> {
  const { promise, resolve } = Promise.withResolvers<{ readonly own: number; readonly other: number }>();
  let [own, other] = [0, 0];
  socket.on("close", () => resolve({ own, other }));
  socket.on("data", (chunk: Buffer) => {
    for (const byte of chunk) {
      if (byte === OWN) own += 1;
      else if (byte === OTHER) other += 1;
    }
    if (own + other >= SIZE_BYTES) socket.destroy();
  });
  socket.resume();
  return promise;
}
