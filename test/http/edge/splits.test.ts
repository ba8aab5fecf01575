// The same bytes in any TCP segmentation mean the same request.
import { test } from "node:test";
import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { array, asyncProperty, assert as check, constantFrom, integer } from "fast-check";
import { open, post, startEdge } from "./harness.ts";

const BODY = "the quick brown fox jumps over the lazy dog";
const PLAIN = post(`Content-Length: ${BODY.length}\r\n`, BODY);
const CHUNKED = post(
  "Transfer-Encoding: chunked\r\n",
  `a\r\n${BODY.slice(0, 10)}\r\n21;x=y\r\n${BODY.slice(10)}\r\n0\r\n\r\n`,
);

test("api.splits: a request split anywhere gives the same answer as in one piece", async (t) => {
  const { port } = await startEdge(t);
  const request = constantFrom(PLAIN, CHUNKED);
  const cuts = array(integer({ min: 1, max: PLAIN.length - 1 }), { maxLength: 8 });
  await check(
    asyncProperty(request, cuts, async (text, positions) => {
      const { socket, untilClose } = await open(port);
      const edges = [0, ...positions.toSorted((left, right) => left - right), text.length];
      for (let index = 0; index + 1 < edges.length; index += 1) {
        socket.write(text.slice(edges[index], edges[index + 1]));
        await nextTurn();
      }
      const replies = await untilClose();
      assert.deepEqual(
        replies.map(({ status, body }) => [status, body]),
        [[200, `{"size_bytes":${BODY.length}}`]],
      );
    }),
    { numRuns: 60 },
  );
});
