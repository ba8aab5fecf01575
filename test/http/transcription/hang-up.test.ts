// Who pays when a caller hangs up: the caller, once a byte was sent; before that nothing is charged.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { PriceBook } from "../../../src/metering/price.ts";
import { ProviderError } from "../../../src/providers/io.ts";
import { postForm } from "../../harness/client.ts";
import { standardFile, startGateway, type TestGateway } from "../../harness/gateway.ts";

let gateway: TestGateway;
let hasLeft = false;
/** What the operator makes of every price while the call is under way. */
let raisedBy = 1n;
let factor = 1n;
before(async () => {
  gateway = await startGateway({
    file: (sandbox) => ({
      ...standardFile(sandbox),
      prices: [
        { provider: "deepgram", model: "nova-3", usd_per_audio_hour: "0.36", source: "test", as_of: "2026-11-01" },
      ],
    }),
    // The hang-up itself, at a moment that a socket could not be made to hit every time.
    wrapGateway: (services) => ({
      ...services,
      prices: () => raised(services.prices(), factor),
      openIo: ({ onDispatch }) => ({
        credential: null,
        send: async () => {
          if (hasLeft) onDispatch();
          factor = raisedBy;
          throw new ProviderError("aborted");
        },
        open: async () => {
          throw new ProviderError("aborted");
        },
        connect: async () => {
          throw new ProviderError("aborted");
        },
        onRemoteRun: async () => undefined,
        pause: async () => undefined,
        retain: () => undefined,
        remember: async (_name, make) => (await make()).value,
        forget: () => undefined,
        nowMs: Date.now,
      }),
    }),
  });
});
after(() => gateway.close());

function raised(book: PriceBook, by: bigint): PriceBook {
  return {
    ...book,
    audio: (provider, model) => {
      const price = book.audio(provider, model);
      return price === null ? null : { ...price, nanoUsdPerAudioHour: price.nanoUsdPerAudioHour * by };
    },
  };
}

for (const [name, left, isCharged, by] of [
  ["before the first byte left: not charged", false, false, 1n],
  ["after the first byte left: charged as run", true, true, 1n],
  ["after the price was raised: charged by the one before", true, true, 2n],
] as const) {
  test(`transcription.hang-up: a caller who hangs up ${name}`, async () => {
    hasLeft = left;
    raisedBy = by;
    factor = 1n;
    await gateway.database.db.deleteFrom("attempts").execute();
    await postForm(gateway.origin);
    const [attempt, ...others] = await gateway.database.db.selectFrom("attempts").selectAll().execute();
    assert(attempt !== undefined && others.length === 0);
    assert.deepEqual([attempt.state, attempt.outcome], ["settled", "aborted"]);
    assert.equal(attempt.charge_nano_usd, isCharged ? attempt.reserved_nano_usd : 0n);
    assert.equal((attempt.billable_audio_ms ?? 0n) > 0n, isCharged);
  });
}
