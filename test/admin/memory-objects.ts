// A store of small objects in memory, with what it holds open to tests.
import type { WholeObjects } from "../../src/objects/whole-objects.ts";

export function memoryObjects(): WholeObjects & { readonly held: Map<string, Buffer> } {
  const held = new Map<string, Buffer>();
  return {
    held,
    put: async (key, body) => {
      held.set(key, Buffer.concat(await Array.fromAsync(body)));
    },
    read: async (key) => held.get(key) ?? null,
  };
}
