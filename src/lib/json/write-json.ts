// Serialises JSON with long lists in chunks, with the same bytes as JSON.stringify, which would block for 30 ms on the 5 MB of a 60,000-word transcript.
import { runCooperatively } from "../concurrency/run-cooperatively.ts";
import { CHUNK_SIZE, type CooperativeTask } from "../concurrency/cooperative-task.ts";

/** Takes plain data. A value without a long list is serialised in one call. */
export async function jsonBytes(value: unknown): Promise<Buffer> {
  return holdsLongList(value) ? runCooperatively(writeJson(value)) : Buffer.from(JSON.stringify(value));
}

export function* writeJson(value: unknown): CooperativeTask<Buffer> {
  const parts: Buffer[] = [];
  yield* write(value, (text) => void parts.push(Buffer.from(text)));
  return Buffer.concat(parts);
}

function* write(value: unknown, put: (text: string) => void): CooperativeTask<void> {
  if (!holdsLongList(value)) put(JSON.stringify(value));
  else if (Array.isArray(value)) yield* writeList(value, put);
  else {
    let before = "{";
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      put(`${before}${JSON.stringify(name)}:`);
      yield* write(member, put);
      before = ",";
    }
    put("}");
  }
}

function* writeList(list: readonly unknown[], put: (text: string) => void): CooperativeTask<void> {
  for (let from = 0; from < list.length; from += CHUNK_SIZE) {
    const some = JSON.stringify(list.slice(from, from + CHUNK_SIZE));
    put(`${from === 0 ? "[" : ","}${some.slice(1, -1)}`);
    yield;
  }
  put("]");
}

/** A long list, or a plain object that contains one. Lists are not searched. */
function holdsLongList(value: unknown): value is object {
  if (Array.isArray(value)) return value.length > CHUNK_SIZE;
  return isPlain(value) && Object.values(value).some(holdsLongList);
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
