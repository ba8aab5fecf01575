// What alerts and metrics are told of an answer by another model.
import assert from "node:assert/strict";
import { test } from "node:test";
import { newId } from "../../src/contract/ids.ts";
import { watchCall } from "../../src/gateway/calls/call-watch.ts";
import type { ModelSubstitution } from "../../src/gateway/calls/observer.ts";
import { modelReceipt } from "../../src/providers/answered-model.ts";
import { speechTarget } from "../routing/routing-fixtures.ts";

const IDS = { requestId: newId("request"), attemptId: newId("attempt"), workspaceId: newId("workspace") };

function substitutions(answered: string | null, isUsed: boolean): readonly ModelSubstitution[] {
  const seen: ModelSubstitution[] = [];
  const observer = {
    called: () => undefined,
    jobEnded: () => undefined,
    modelSubstituted: (each: ModelSubstitution) => void seen.push(each),
  };
  const circuits = { begin: () => () => undefined } as never;
  const target = { ...speechTarget(1), connection: "own", account: `${IDS.workspaceId}/own`, model: "asked-1" };
  const call = { ...IDS, operation: "transcription", target, testMode: false } as const;
  const watch = watchCall({ circuits, observer, now: () => new Date(0) }, call);
  watch.answered([modelReceipt(answered, (name) => name === "asked-1")], isUsed);
  return seen;
}

test("metrics.substitutions: an observer gets workspace, connection, the asked and the answered model", () => {
  const seen: ModelSubstitution = {
    ...IDS,
    connection: "own",
    provider: "deepgram",
    operation: "transcription",
    isWorkspaceOwned: true,
    testMode: false,
    asked: "asked-1",
    answered: "other-2",
    isRefused: false,
  };
  assert.deepEqual(substitutions("other-2", true), [seen]);
  assert.deepEqual(substitutions("other-2", false), [{ ...seen, isRefused: true }]);
});

test("metrics.substitutions: the asked model, and none, are no substitution", () => {
  assert.deepEqual(substitutions("asked-1", true), []);
  assert.deepEqual(substitutions(null, false), []);
});
