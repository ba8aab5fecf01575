import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { availableMemory } from "../../../src/providers/local/available-memory.ts";

const MIB = 1_048_576;

function filesOf(t: { after(work: () => void): void }, content: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), "patchbay-memory-"));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return { proc: join(root, "proc"), cgroup: join(root, "cgroup") };
}

const MACHINE = { "proc/meminfo": `MemTotal: 99 kB\nMemAvailable:   ${8 * 1024 * 1024} kB\n` };

test("local.memory: without a container, what the machine has left counts", async (t) => {
  assert.equal(await availableMemory(filesOf(t, MACHINE)), 8 * 1024 * MIB);
});

test("local.memory: the limit of a container counts, without what it only caches", async (t) => {
  const files = filesOf(t, {
    ...MACHINE,
    "proc/self/cgroup": "0::/patchbay\n",
    "cgroup/patchbay/memory.max": `${1024 * MIB}\n`,
    "cgroup/patchbay/memory.current": `${900 * MIB}\n`,
    "cgroup/patchbay/memory.stat": `anon 1\ninactive_file ${400 * MIB}\n`,
  });
  assert.equal(await availableMemory(files), 524 * MIB);
});

test("local.memory: the limit of an older kind of container counts, and no limit is none", async (t) => {
  const old = {
    ...MACHINE,
    "cgroup/memory/memory.limit_in_bytes": `${512 * MIB}`,
    "cgroup/memory/memory.usage_in_bytes": `${500 * MIB}`,
    "cgroup/memory/memory.stat": `total_inactive_file ${100 * MIB}`,
  };
  assert.equal(await availableMemory(filesOf(t, old)), 112 * MIB);
  const unlimited = { ...MACHINE, "cgroup/memory.max": "max\n", "cgroup/memory.current": "5\n" };
  assert.equal(await availableMemory(filesOf(t, unlimited)), 8 * 1024 * MIB);
});

test("local.memory: the limit of a group that contains the one of this process counts", async (t) => {
  const pod = {
    ...MACHINE,
    "proc/self/cgroup": "0::/pod/patchbay\n",
    "cgroup/pod/memory.max": `${600 * MIB}\n`,
    "cgroup/pod/memory.current": `${500 * MIB}\n`,
    "cgroup/pod/patchbay/memory.max": "max\n",
    "cgroup/pod/patchbay/memory.current": `${50 * MIB}\n`,
  };
  assert.equal(await availableMemory(filesOf(t, pod)), 100 * MIB);
  const service = {
    ...MACHINE,
    "proc/self/cgroup": "5:cpu,memory:/system/patchbay\n1:name=systemd:/\n",
    "cgroup/memory/system/memory.limit_in_bytes": `${700 * MIB}\n`,
    "cgroup/memory/system/memory.usage_in_bytes": `${500 * MIB}\n`,
  };
  assert.equal(await availableMemory(filesOf(t, service)), 200 * MIB);
});
