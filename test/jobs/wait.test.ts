// What wakes a caller who waits for a job.
import assert from "node:assert/strict";
import { test } from "node:test";
import { brand } from "../../src/contract/ids.ts";
import { awaitEnd } from "../../src/jobs/read/read-job.ts";
import { jobTopic, progressTopic } from "../../src/jobs/topics.ts";

const ID = "job_waited_for";
const OWNER = { workspaceId: brand("workspace", "ws_wait"), appId: brand("app", "app_wait") };

test("jobs.wait: a wait reads the job again at its end, not at its progress", async () => {
  let reads = 0;
  let status = "processing";
  let notify: (topic: string | null) => void = () => assert.fail("no subscription");
  const hasRead = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const services = {
    database: {
      inWorkspace: async () => {
        hasRead[reads]?.resolve();
        reads += 1;
        return { status };
      },
    },
    queue: {
      subscribe: (listener: typeof notify) => {
        notify = listener;
        return () => undefined;
      },
    },
  } as unknown as Parameters<typeof awaitEnd>[0];
  const waiting = { milliseconds: 60_000, signal: new AbortController().signal, room: {} } as unknown as Parameters<
    typeof awaitEnd
  >[3];
  const ended = awaitEnd(services, OWNER, ID, waiting, async (row) => row.status);
  await hasRead[0]?.promise;
  notify(progressTopic(ID));
  notify(jobTopic("job_of_another"));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(reads, 1);
  status = "succeeded";
  notify(jobTopic(ID));
  assert.equal(await ended, "succeeded");
  assert.equal(reads, 2);
});
