// The record of a real request equals the answer of `patchbay route explain` to the same input, over random routes.
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { createDecoder } from "../../src/audio/decode/decoder.ts";
import { createMeasurer } from "../../src/audio/measure.ts";
import { hashKey } from "../../src/auth/key-format.ts";
import { chatFields } from "../../src/contract/chat/checked-chat-fields.ts";
import { translationFields } from "../../src/contract/transcription/transcription-fields.ts";
import { findKey } from "../../src/directory/find-key.ts";
import { loadDirectory } from "../../src/directory/load-directory.ts";
import { explainRoute, traceView } from "../../src/gateway/dry-run/explain-route.ts";
import { createPriceBook } from "../../src/metering/price.ts";
import { createCircuits } from "../../src/providers/health.ts";
import { chatProviders } from "../../src/providers/registry.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { fixture } from "../audio/build-audio.ts";
import { HELLO } from "../harness/chat-client.ts";
import { ENCRYPTION_KEY, MODEL_DAY, PEPPER, startGateway } from "../harness/gateway.ts";
import { pauseIn } from "../harness/pause.ts";
import { askAll, traceOf } from "./asked.ts";
import { randomSetUp } from "./random-set-up.ts";

const SEED = randomInt(2 ** 31);
const APPS = 10;
const REQUESTS_EACH = 6;

test("routing.explain-equals-request: over random routes the record of each request equals the explanation of its input", async (t) => {
  const setUp = randomSetUp(SEED, APPS, REQUESTS_EACH);
  const gateway = await startGateway({ file: setUp.file });
  const measurer = createMeasurer();
  try {
    // In every route that has it: the explanation later must know of the pause too.
    await pauseIn(gateway, "oa");
    const asked = await askAll(gateway, setUp.apps);
    const { database } = gateway;
    const directory = await loadDirectory({ database, seal: createSeal({ keys: [ENCRYPTION_KEY] }) });
    const services = {
      directory: () => directory,
      decoder: createDecoder({ ffmpeg: null, directory: gateway.dataDir }),
      circuits: createCircuits(Date.now),
      now: () => new Date(),
      modelClock: () => new Date(MODEL_DAY),
      chatProviders,
      prices: () => createPriceBook([]),
    };
    const outcomes = new Map<string, number>();
    for (const { app, request, id } of asked) {
      const recorded = await traceOf(gateway, id);
      const principal = await findKey(database, hashKey(PEPPER, app.secret), false);
      assert(principal !== null);
      const bytes = fixture(request.file);
      const measured = await measurer.measure({ kind: "bytes", bytes });
      assert(measured.ok);
      const explained =
        request.task === "chat"
          ? explainRoute(services, {
              kind: "chat",
              principal,
              fields: chatFields.parse({ messages: HELLO, ...request.fields }),
            })
          : explainRoute(services, {
              kind: "audio",
              principal,
              task: request.task,
              fields: translationFields.parse(request.fields),
              audio: { ...measured, sizeBytes: bytes.length },
            });
      // As JSON keeps it.
      assert.deepEqual(
        recorded,
        JSON.parse(JSON.stringify(traceView(explained))),
        `seed ${SEED}: ${app.id} ${JSON.stringify(request)}`,
      );
      const outcome = explained.refusal ?? "routed";
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    t.diagnostic(
      `seed ${SEED}, ${asked.length} requests: ${[...outcomes].map(([name, count]) => `${count} ${name}`).join(", ")}`,
    );
    // Not all alike, or nothing was shown.
    assert(outcomes.size >= 2 && outcomes.has("routed"), `seed ${SEED}: only ${[...outcomes.keys()].join(", ")}`);
  } finally {
    await measurer.close();
    await gateway.close();
  }
});
