// How many addresses are checked at once (experience 15): two of a workspace, eight of all, and the rest in line.
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAudioUrl, MOST_CHECKS } from "../../src/admin/check-audio-url.ts";
import { newId, type WorkspaceId } from "../../src/contract/ids.ts";
import { createKeyedSemaphore } from "../../src/lib/concurrency/keyed-semaphore.ts";

test("reliability 4: a workspace's checks wait in line behind two of its own, and no workspace takes the places of all", async () => {
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
