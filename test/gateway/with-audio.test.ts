// The audio of a request before it is measured: in whose turn, and for how long.
import assert from "node:assert/strict";
import { test } from "node:test";
import { newId } from "../../src/contract/ids.ts";
import { withAudio } from "../../src/gateway/transcription/with-audio.ts";

type Services = Parameters<typeof withAudio>[0];
type Measure = Services["measurer"]["measure"];

const workspaceId = newId("workspace");
const remoteAudio: Services["remoteAudio"] = {
  check: () => assert.fail("nothing is fetched"),
  examine: () => assert.fail("nothing is asked about"),
  download: () => assert.fail("nothing is fetched"),
};

function measuring(measure: Measure, signal: AbortSignal): Promise<void> {
  const source = { kind: "bytes", bytes: Uint8Array.of(1) } as const;
  const spooled = {
    sizeBytes: 1,
    sha256: async () => "",
    source,
    open: async function* () {},
    keep: () => null,
    dispose: async () => {},
  };
  const audio = { kind: "spooled", spooled, param: "file", mediaTypeHint: null, fileNameHint: null } as const;
  const services = {
    remoteAudio,
    measurer: { measure, close: async () => {} },
    limits: { maxAudioDurationSeconds: 60 },
  };
  const holders = { workspace: { id: workspaceId } } as Parameters<typeof withAudio>[1]["holders"];
  const request = { audio, holders, maxUrlBytes: 1, signal };
  return withAudio(services as unknown as Services, request, () => assert.fail("no caller is left that wants it"));
}

test("measuring.abort: nothing continues for a caller who hangs up while its recording waits to be measured", async () => {
  const caller = new AbortController();
  const measure: Measure = (_source, wish) => {
    caller.abort(new Error("the caller hung up"));
    return wish?.signal?.aborted === true
      ? Promise.reject(wish.signal.reason)
      : assert.fail("it continues without a caller");
  };
  await assert.rejects(measuring(measure, caller.signal), { code: "REQUEST_TIMEOUT" });
});

test("measuring.fair-queue: a recording is measured in its workspace's turn", async () => {
  const measure: Measure = async (_source, wish) => {
    assert.equal(wish?.owner, workspaceId);
    return { ok: false, code: "INVALID_AUDIO", reason: "is none" };
  };
  await assert.rejects(measuring(measure, new AbortController().signal), { code: "INVALID_AUDIO" });
});
