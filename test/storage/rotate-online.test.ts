// The key that wraps the data keys is changed while requests go through workspaces' own provider accounts [tenancy.rotate]. None of
// them fails.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { brand } from "../../src/contract/ids.ts";
import { loadDirectory } from "../../src/directory/load-directory.ts";
import { announceChange } from "../../src/storage/connection/announce.ts";
import { countKeyUse, rewrapDataKeys } from "../../src/storage/secrets/rotate-keys.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { postForm } from "../harness/client.ts";
import { ENCRYPTION_KEY, standardFile, startGateway, type TestGateway } from "../harness/gateway.ts";

const fresh = randomBytes(32);
const REQUESTS = 30;

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    // As every process has it before a rotation: both may open.
    encryptionKeys: [ENCRYPTION_KEY, fresh],
    file: (sandbox) => {
      const file = standardFile(sandbox);
      const own = { id: "dg", kind: "deepgram" as const, api_key: "dg-of-its-own", base_url: sandbox.deepgramUrl };
      return { ...file, workspaces: (file.workspaces ?? []).map((each) => ({ ...each, connections: [own] })) };
    },
  });
});
after(() => gateway.close());

test("tenancy.rotate: rotated to and fro while requests use their workspace's own connections: none fails", async () => {
  const { database } = gateway;
  const there = createSeal({ keys: [fresh, ENCRYPTION_KEY] });
  const back = createSeal({ keys: [ENCRYPTION_KEY, fresh] });
  const workspace = await database.db
    .selectFrom("workspaces")
    .select("id")
    .where("slug", "=", "acme")
    .executeTakeFirst();
  const statuses: number[] = [];
  let wrapped = 0;
  let rotations = 0;
  const rotate = async () => {
    rotations += 1;
    wrapped += await rewrapDataKeys(database, rotations % 2 === 1 ? there : back);
    // What a change of the directory does in every process: all credentials are opened again.
    await database.transaction((tx) => announceChange(tx, "directory", brand("workspace", workspace?.id ?? "")));
    await loadDirectory({ database, seal: back });
  };
  // Each client rotates while the others send requests.
  const client = async () => {
    while (statuses.length < REQUESTS) {
      statuses.push((await postForm(gateway.origin)).status);
      if (statuses.length % 3 === 0) await rotate();
    }
  };
  await Promise.all([client(), client(), client()]);
  assert.deepEqual(new Set(statuses), new Set([200]));
  assert.ok(rotations >= 10 && wrapped >= rotations, `${rotations} rotations rewrapped ${wrapped} data keys`);

  await rewrapDataKeys(database, there);
  const uses = await countKeyUse(database, there);
  assert.equal(uses.find(({ keyId }) => keyId === there.keyIds[1])?.dataKeys, 0);
  // The old key is taken out.
  await loadDirectory({ database, seal: createSeal({ keys: [fresh] }) });
});
