// Syncs of folders that several uploads share.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFolderSync } from "../../src/objects/atomic-file.ts";

test("jobs.accepted-durable: a folder's sync that fails fails for every file that shared it, is not repeated, and affects no other folder", async () => {
  const synced: string[] = [];
  const sync = createFolderSync(async (path) => {
    synced.push(path);
    // A second sync of the same folder would succeed although the names are lost: the system reports such an error once.
    if (synced.filter((each) => each === "broken").length === 1 && path === "broken") throw new Error("EIO");
  });
  const ended = await Promise.allSettled(["broken", "sound", "broken"].map(sync));
  assert.deepEqual(
    ended.map(({ status }) => status),
    ["rejected", "fulfilled", "rejected"],
  );
  assert.deepEqual(synced, ["broken", "sound"]);
  await sync("broken");
});
