// How many addresses are checked at once: two of a workspace, eight in all. Others wait.
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAudioUrl, MOST_CHECKS } from "../../src/admin/check-audio-url.ts";
import { newId, type WorkspaceId } from "../../src/contract/ids.ts";
import { createKeyedSemaphore } from "../../src/lib/concurrency/keyed-semaphore.ts";

test("remote-audio.check-concurrency: a workspace's checks wait behind two of its own, and no workspace takes all places", async () => {
  const asked: WorkspaceId[] = [];
  const opened = Promise.withResolvers<void>();
  const services = {
    database: { inWorkspace: () => assert.fail("nothing is listed") },
    places: createKeyedSemaphore({ ...MOST_CHECKS, perKind: MOST_CHECKS.total }),
    remoteAudio: {
      examine: async ({ workspaceId }: { readonly workspaceId: WorkspaceId }) => {
        asked.push(workspaceId);
        await opened.promise;
        return { host: null, listedAs: null, addresses: [], findings: [] };
      },
    },
  };
  const check = (workspaceId: WorkspaceId) =>
    checkAudioUrl(services, { workspaceId, url: "x", isOperator: false, signal: new AbortController().signal });
  const workspaces = Array.from({ length: 6 }, () => newId("workspace"));
  const checks = workspaces.flatMap((workspaceId) => [check(workspaceId), check(workspaceId), check(workspaceId)]);
  await new Promise(setImmediate);
  assert.equal(asked.length, MOST_CHECKS.total);
  for (const workspaceId of workspaces)
    assert.ok(asked.filter((each) => each === workspaceId).length <= MOST_CHECKS.perOwner);
  opened.resolve();
  assert.equal((await Promise.all(checks)).length, 18);
});
