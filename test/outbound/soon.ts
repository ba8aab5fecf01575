// Bounded waiting: what does not come is a failed assertion, and not a test that hangs until the run is stopped.
import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import type { Outbound, OutboundStream } from "../../src/outbound/dial.ts";

/** The clock itself, also where a test has put another in its place. */
const { clearInterval, setInterval } = globalThis;
const BEAT_MS = 50;
/** Of a loop that turns: on a busy machine they take as long as they take. */
const MOST_BEATS = 200;
export const DOES_NOT_COME = "what was waited for does not come";

export async function soon<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  let beats = 0;
  const pulse = setInterval(() => {
    beats += 1;
    if (beats > MOST_BEATS) late.reject(new assert.AssertionError({ message: DOES_NOT_COME }));
  }, BEAT_MS);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearInterval(pulse);
  }
}

/** Long enough for everything that happens without a further cause. */
export async function aWhile(): Promise<void> {
  for (let turns = 0; turns < 200; turns++) await turn();
}

/** Each chunk soon after it was asked for. */
export async function* eachSoon<T>(chunks: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  const reading = chunks[Symbol.asyncIterator]();
  let isLeft = false;
  try {
    while (true) {
      const { done, value } = await soon(reading.next());
      if (done === true) return;
      isLeft = true;
      yield value;
      isLeft = false;
    }
  } finally {
    if (isLeft) await soon(Promise.resolve(reading.return?.()));
  }
}

/** A way out of which everything comes soon. */
export function impatient(outbound: Outbound): Outbound {
  const read = (stream: OutboundStream): OutboundStream => ({ ...stream, body: eachSoon(stream.body) });
  return {
    ...outbound,
    exchange: (request) => soon(outbound.exchange(request)),
    open: async (request) => read(await soon(outbound.open(request))),
    receive: (request, work) => soon(outbound.receive(request, (stream) => work(read(stream)))),
    connect: (request) => soon(outbound.connect(request)),
    close: () => soon(outbound.close()),
    destroy: () => soon(outbound.destroy()),
  };
}
