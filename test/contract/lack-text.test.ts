// Why a target was skipped, in words: of a feature that it lacks, and of a limit that is no feature.
import assert from "node:assert/strict";
import { test } from "node:test";
import { whyNot } from "../../src/contract/lack-text.ts";

test("requests.summary: a limit or a missing model is named as that, and only a feature is lacked", () => {
  for (const [missing, text] of [
    [["diarization", "timestamps.word"], "lacks diarization, timestamps.word"],
    [["model_not_installed"], "model not installed"],
    [["duration", "diarization"], "lacks diarization; recording too long"],
    [["data_policy.training"], "lacks data_policy.training"],
  ] as const)
    assert.equal(whyNot(missing), text);
  assert.equal(whyNot(["model_retired"], { ended_on: "2026-09-02" }), "ended by its provider on 2026-09-02");
});
