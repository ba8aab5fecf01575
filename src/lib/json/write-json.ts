// Serialises JSON with long lists in chunks, with the same bytes as JSON.stringify, which would block for 30 ms on the 5 MB of a 60,000-word transcript.
import { createTickBudget, type TickBudget } from "../concurrency/tick-budget.ts";

/** List items that are serialised together. */
const CHUNK_SIZE = 1_000;

/** Takes plain data. A value without a long list is serialised in one call. */
export async function jsonBytes(value: unknown): Promise<Buffer> {
  if (!holdsLongList(value)) return Buffer.from(JSON.stringify(value));
  const parts: Buffer[] = [];
  await write(value, (text) => void parts.push(Buffer.from(text)), createTickBudget());
  return Buffer.concat(parts);
}

type Put = (text: string) => void;

async function write(value: unknown, put: Put, budget: TickBudget): Promise<void> {
  if (!holdsLongList(value)) put(JSON.stringify(value));
  else if (Array.isArray(value)) await writeList(value, put, budget);
  else {
    let before = "{";
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      put(`${before}${JSON.stringify(name)}:`);
      await write(member, put, budget);
      before = ",";
    }
    put("}");
  }
}

async function writeList(list: readonly unknown[], put: Put, budget: TickBudget): Promise<void> {
  for (let from = 0; from < list.length; from += CHUNK_SIZE) {
    const some = JSON.stringify(list.slice(from, from + CHUNK_SIZE));
    put(`${from === 0 ? "[" : ","}${some.slice(1, -1)}`);
    if (budget.isSpent()) await budget.renew();
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
