// Summarises a V8 CPU profile: self time by function and by code area.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { table } from "./report.ts";

export interface ProfileSummary {
  /** Samples with running code; waiting is not counted. */
  readonly busyMs: number;
  readonly rooms: readonly Share[];
  readonly functions: readonly Share[];
}

export interface Share {
  readonly name: string;
  readonly ms: number;
  readonly share: number;
}

/** On the clock of `process.hrtime`, which V8's profiler shares. Excludes the start of the process from the load. */
export interface Window {
  readonly fromUs: number;
  readonly toUs: number;
}

interface CpuProfile {
  readonly startTime: number;
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

/** The first match names the code area. Native functions have no file and count to the area that called them. */
const ROOMS: readonly (readonly [RegExp, string])[] = [
  [/node_modules\/(pg|pg-[^/]+|postgres-[^/]+)\//u, "pg"],
  [/node_modules\/kysely\//u, "kysely"],
  [/node_modules\/undici\//u, "undici"],
  [/node_modules\/pg-boss\//u, "pg-boss"],
  [/node_modules\/(zod)\//u, "zod"],
  [/node_modules\/(find-my-way|fast-[^/]+)\//u, "router"],
  [/node_modules\/(pino|sonic-boom|thread-stream|safe-stable-stringify)\//u, "pino"],
  [/src\/http\/body\/(multipart|part-headers|read-audio-form|body-chunks|audio-intake)/u, "http/multipart"],
  [/src\/audio\/spool/u, "audio/spool"],
  [/src\/audio\//u, "audio/measure"],
  [/src\/(jobs|queue)\//u, "jobs"],
  [/src\/objects\/|node_modules\/(@aws-sdk|@smithy)\//u, "objects"],
  [/src\/(http|auth)\//u, "http"],
  [/src\/(metering|storage)\//u, "metering"],
  [/src\/outbound\//u, "outbound"],
  [/src\/providers\//u, "providers"],
  [/src\/(gateway|routing|directory|captions)\//u, "gateway"],
  [/node:internal\/crypto/u, "hashing"],
  [/node:(internal\/)?fs/u, "node fs"],
  [/node:internal\/(streams|stream_base|js_stream)|node:(stream|net)\b|node:internal\/net/u, "node streams, sockets"],
  [/node:_?http|node:internal\/(http|_http)/u, "node http"],
  [/node:internal\/worker/u, "measure worker's messages"],
  [/node:/u, "node, other"],
];

/** Each `.cpuprofile` in a folder is one thread; the largest is the main thread. */
export function summarise(folder: string, window: Window): ProfileSummary {
  const files = readdirSync(folder).filter((name) => name.endsWith(".cpuprofile"));
  const rooms = new Map<string, number>();
  const functions = new Map<string, number>();
  let busyMs = 0;
  for (const file of files) {
    const profile = JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile;
    const isWorker = profile.nodes.some(({ callFrame }) => callFrame.url.includes("measure-worker"));
    const parents = parentsOf(profile.nodes);
    const selfMs = selfTimes(profile, window);
    for (const node of profile.nodes) {
      const ms = selfMs.get(node.id) ?? 0;
      const { functionName } = node.callFrame;
      if (ms === 0 || functionName === "(idle)" || functionName === "(root)") continue;
      const room = isWorker ? "measure worker" : roomOf(node, parents);
      busyMs += ms;
      add(rooms, room, ms);
      add(functions, `${functionName === "" ? "(anonymous)" : functionName} ${placeOf(node, parents)}`, ms);
    }
  }
  return { busyMs, rooms: shares(rooms, busyMs, 20), functions: shares(functions, busyMs, 12) };
}

function selfTimes({ samples, timeDeltas, startTime }: CpuProfile, { fromUs, toUs }: Window): Map<number, number> {
  const times = new Map<number, number>();
  let atUs = startTime;
  for (const [index, id] of samples.entries()) {
    atUs += timeDeltas[index] ?? 0;
    // A delta is the time before its sample, so the duration of this one is in the next.
    if (atUs >= fromUs && atUs < toUs) add(times, id, (timeDeltas[index + 1] ?? 0) / 1000);
  }
  return times;
}

function parentsOf(nodes: readonly ProfileNode[]): ReadonlyMap<number, ProfileNode> {
  return new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));
}

function roomOf(node: ProfileNode, parents: ReadonlyMap<number, ProfileNode>): string {
  const { functionName } = node.callFrame;
  if (functionName === "(garbage collector)") return "gc";
  if (functionName === "(program)") return "native (system calls, libuv)";
  for (let at: ProfileNode | undefined = node; at !== undefined; at = parents.get(at.id)) {
    const { url } = at.callFrame;
    const room = ROOMS.find(([pattern]) => pattern.test(url))?.[1];
    if (room !== undefined) return room;
  }
  return "other";
}

function placeOf(node: ProfileNode, parents: ReadonlyMap<number, ProfileNode>): string {
  const { url, lineNumber } = node.callFrame;
  if (url !== "")
    return `(${url.replace(/^.*\/node_modules\//u, "").replace(/^file:.*\/(src\/)/u, "$1")}:${lineNumber + 1})`;
  const caller = parents.get(node.id);
  return caller === undefined || caller.callFrame.url === "" ? "" : `< ${caller.callFrame.functionName}`;
}

function shares(times: ReadonlyMap<string, number>, totalMs: number, most: number): readonly Share[] {
  return [...times]
    .map(([name, ms]) => ({ name, ms: Math.round(ms), share: Math.round((ms / totalMs) * 1000) / 1000 }))
    .toSorted((left, right) => right.ms - left.ms)
    .slice(0, most);
}

function add<Key>(times: Map<Key, number>, key: Key, ms: number): void {
  times.set(key, (times.get(key) ?? 0) + ms);
}

export function shareTable(shares: readonly Share[], requests: number): string {
  const rows = shares.map(({ name, ms, share }) => ({
    what: name,
    "ms/request": (ms / requests).toFixed(2),
    share: `${(share * 100).toFixed(1)} %`,
  }));
  return table(rows);
}
