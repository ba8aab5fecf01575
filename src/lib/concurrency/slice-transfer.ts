// Sends a record with long lists to another thread in slices, because cloning 60,000 words at once blocks both event loops for 60 ms.
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { createTickBudget } from "./tick-budget.ts";

/** List items per message: they are cloned within 2 ms. */
const SLICE = 1_000;

type Slice = readonly [name: string, items: readonly unknown[]];

/** Only lists that are members of `record` itself are sliced. Returns the number of messages. */
export async function sendInSlices(port: MessagePort, record: object): Promise<number> {
  const lists = Object.entries(record).filter((member): member is [string, unknown[]] => Array.isArray(member[1]));
  port.postMessage({ ...record, ...Object.fromEntries(lists.map(([name]) => [name, []])) });
  let count = 1;
  const budget = createTickBudget();
  for (const [name, items] of lists) {
    for (let from = 0; from < items.length; from += SLICE) {
      port.postMessage([name, items.slice(from, from + SLICE)] satisfies Slice);
      count += 1;
      if (budget.isSpent()) await budget.renew();
    }
  }
  return count;
}

/** Call after the last message has arrived. */
export async function receiveInSlices(port: MessagePort, count: number): Promise<unknown> {
  const record = receive(port) as Record<string, unknown[]>;
  const budget = createTickBudget();
  for (let received = 1; received < count; received += 1) {
    const [name, items] = receive(port) as Slice;
    const list = record[name];
    for (const item of items) list?.push(item);
    if (budget.isSpent()) await budget.renew();
  }
  return record;
}

function receive(port: MessagePort): unknown {
  const received = receiveMessageOnPort(port);
  if (received === undefined) throw new Error("a slice of a record is missing");
  return received.message;
}
