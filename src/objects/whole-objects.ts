// Reads and writes objects of the object store that are small enough for memory.
import { ObjectMissing, type ObjectStore } from "./store.ts";

export interface WholeObjects {
  put(key: string, body: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<void>;
  /** Null when there is none. */
  read(key: string): Promise<Buffer | null>;
}

export function wholeObjects(objects: Pick<ObjectStore, "put" | "open">): WholeObjects {
  return {
    put: (key, body, sizeBytes) => objects.put(key, body, sizeBytes),
    read: (key) => readWhole(objects, key),
  };
}

/** Null when there is none. */
export async function readWhole(objects: Pick<ObjectStore, "open">, key: string): Promise<Buffer | null> {
  try {
    return Buffer.concat(await Array.fromAsync(await objects.open(key)));
  } catch (error) {
    if (error instanceof ObjectMissing) return null;
    throw error;
  }
}
