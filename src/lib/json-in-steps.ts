// JSON of an answer with long lists, written a stretch of them at a time: the bytes that JSON.stringify would make of it, which are some
// 5 MB and 30 ms in one piece of a transcript of 60,000 words.
import { inSteps } from "./in-steps.ts";
import { AT_A_TIME, type Steps } from "./steps.ts";

/** Of plain data. What holds no long list is written at once. */
export async function jsonBytes(value: unknown): Promise<Buffer> {
  return holdsLongList(value) ? inSteps(writing(value)) : Buffer.from(JSON.stringify(value));
}

export function* writing(value: unknown): Steps<Buffer> {
  const parts: Buffer[] = [];
  yield* write(value, (text) => void parts.push(Buffer.from(text)));
  return Buffer.concat(parts);
}

function* write(value: unknown, put: (text: string) => void): Steps<void> {
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

function* writeList(list: readonly unknown[], put: (text: string) => void): Steps<void> {
  for (let from = 0; from < list.length; from += AT_A_TIME) {
    const some = JSON.stringify(list.slice(from, from + AT_A_TIME));
    put(`${from === 0 ? "[" : ","}${some.slice(1, -1)}`);
    yield;
  }
  put("]");
}

/** Itself one, or a plain object with one in it; into lists nobody looks. */
function holdsLongList(value: unknown): value is object {
  if (Array.isArray(value)) return value.length > AT_A_TIME;
  return isPlain(value) && Object.values(value).some(holdsLongList);
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
