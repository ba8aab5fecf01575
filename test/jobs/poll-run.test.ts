// How often a run at a provider is polled: every 2 to 15 s, with jitter [jobs.poll-interval].
import assert from "node:assert/strict";
import { test } from "node:test";
import { followRun } from "../../src/jobs/run/poll-run.ts";
import { type Io, ProviderError } from "../../src/providers/io.ts";
import type { RemotePoll } from "../../src/providers/provider.ts";

const IO = {} as Io;
const RAW = { body: {}, headers: {} };
const GOES_ON: RemotePoll = { done: false, retryAfterSeconds: null, fraction: null };
const refused = (retryAfterSeconds?: number) => new ProviderError("unknown", { status: 429, retryAfterSeconds });

/** The pauses between polls that come to this, one after the other. */
async function pausesOf(polls: readonly (RemotePoll | ProviderError)[], leftMs = 3_600_000): Promise<number[]> {
  const pauses: number[] = [];
  const rest = polls.values();
  await followRun({
    remote: {
      submit: () => assert.fail("it was submitted before"),
      poll: async () => {
        const next = rest.next().value ?? { done: true, raw: RAW };
        if (next instanceof ProviderError) throw next;
        return next;
      },
      remove: () => assert.fail("the run continues"),
    },
    run: { id: "run-1", details: {} },
    openIo: () => IO,
    deadlineAtMs: leftMs,
    nowMs: () => 0,
    onPoll: async () => undefined,
    pause: async (milliseconds) => void pauses.push(milliseconds),
  });
  return pauses;
}

test("jobs.poll-interval: a run is polled after 2 s, then less and less often, down to every 15 s, ±20 %", async () => {
  const pauses = await pausesOf(Array.from({ length: 40 }, () => GOES_ON));
  for (const [index, pause] of pauses.entries()) {
    const step = Math.min(2_000 * 1.5 ** index, 15_000);
    assert.ok(pause >= step * 0.8 && pause <= step * 1.2, `${pause} ms after poll ${index + 1}`);
  }
  assert.equal(new Set(pauses).size, pauses.length, "no two alike");
});

test("jobs.poll-interval: a delay that a provider asks for is honoured up to a minute, and never shortens the interval", async () => {
  const [long, longest, none, unsaid] = await pausesOf([refused(40), refused(3_600), refused(0), refused()]);
  assert.equal(long, 40_000);
  assert.equal(longest, 60_000);
  assert.ok(none !== undefined && none >= 4_500 * 0.8);
  assert.ok(unsaid !== undefined && unsaid >= 6_750 * 0.8);
});

test("jobs.poll-interval: no delay goes beyond the job's deadline", async () => {
  assert.deepEqual(await pausesOf([GOES_ON, refused(40)], 500), [500, 500]);
});

test("jobs.poll-interval: the error of a failed run is no delay", async () => {
  await assert.rejects(pausesOf([GOES_ON, new ProviderError("rejected")]), { kind: "rejected" });
});
