// Compares chat through the gateway with a bare forwarder, nginx and the peer, on the same stand-in and load, in alternating rounds, so that a busy machine
// slows all alike. All features are on: keys, schema, routing, leases, and settlement on disk.
import {
  chat,
  type Contender,
  type Engine,
  type Figures,
  type Gateway,
  figuresOf,
  inTurns,
  measured,
  openGateway,
  openOthers,
  type Round,
} from "./upstream/contenders.ts";
import type { ChatLoadArgument } from "./chat-load.ts";
import { startDatabases } from "./measure/databases.ts";
import { PEER_INSTALL } from "./upstream/others.ts";
import { KEY, runChatLoad, startChatStandIn } from "./measure/processes.ts";
import { type Profiled, profiled, profileNote } from "./measure/profiled.ts";
import { type Report, round } from "./measure/report.ts";

export interface ChatBench {
  readonly seconds: number;
  readonly connections: readonly number[];
  readonly engine: Engine;
  readonly processes: number;
  /** Address of another running gateway that accepts Portkey's headers. Null: the one in its own folder, if installed. */
  readonly peer: string | null;
}

/** Until hot code is compiled: in production a server runs for days. */
const WARM_UP_SECONDS = 10;
const TARGET_RATIO = 0.5;
/** Text chunks per streamed answer of the stand-in. */
const CHUNKS_PER_ANSWER = 64;
export const MODES = ["plain", "stream"] as const;
export type Mode = (typeof MODES)[number];

const PROMPT = "Summarise the minutes of the meeting in three sentences. ".repeat(8);

interface Result {
  readonly mode: Mode;
  readonly connections: number;
  readonly contender: Contender;
  readonly rounds: readonly Round[];
}

interface ChatFigures extends Figures {
  readonly mode: Mode;
  readonly connections: number;
  readonly name: string;
  readonly kind: Contender["kind"];
  /** Of the requests per second of the bare forwarder. */
  readonly ratio: number;
  readonly addedP50Ms: number;
  readonly addedFirstMs: number;
}

export async function benchChat(options: ChatBench): Promise<Report> {
  const { engine, processes } = options;
  const gateways = [...new Set([1, processes])].map((count) => ({ engine, processes: count }));
  const results = await compareChat({ ...options, gateways });
  await using databases = engine === "postgres" ? await startDatabases() : null;
  await using standIn = await startChatStandIn();
  const target = { providerUrl: standIn.origin, databaseUrl: (await databases?.create()) ?? null };
  const profile = await profiled(target, ({ origin }, seconds) =>
    chatting("plain", options.connections[0] ?? 32)(
      { origin, path: chat(standIn.origin).paths.gateway, headers: {}, kind: "gateway" },
      seconds,
    ),
  );
  return report(options, results, profile);
}

export async function compareChat(
  options: Pick<ChatBench, "seconds" | "connections" | "peer"> & { readonly gateways: readonly Gateway[] },
): Promise<readonly ChatFigures[]> {
  const { seconds, gateways, peer } = options;
  await using databases = gateways.some(({ engine }) => engine === "postgres") ? await startDatabases() : null;
  await using standIn = await startChatStandIn();
  await using opened = new AsyncDisposableStack();
  const workload = chat(standIn.origin);
  const contenders = [...(await openOthers(opened, workload, peer))];
  for (const gateway of gateways) contenders.push(await openGateway(opened, databases, workload, gateway));
  for (const contender of contenders) {
    for (const mode of MODES) {
      const warmUp = chatting(mode, options.connections[0] ?? 32);
      await measured(contender, () => warmUp(contender, WARM_UP_SECONDS));
    }
  }
  const results: Result[] = [];
  for (const mode of MODES) {
    for (const connections of options.connections) {
      const compared = await inTurns(contenders, seconds, chatting(mode, connections));
      results.push(...compared.map((each) => ({ mode, connections, ...each })));
    }
  }
  return results.map(({ mode, connections, contender: { name, kind }, rounds }) => {
    const own = figuresOf(rounds);
    const bare = results.find(
      (each) => each.mode === mode && each.connections === connections && each.contender.kind === "bare",
    );
    return {
      mode,
      connections,
      name,
      kind,
      ...own,
      ...comparedWith(own, bare === undefined ? own : figuresOf(bare.rounds)),
    };
  });
}

/** What a latency leaves out. Default: nothing. */
type LeftOut = Pick<ChatLoadArgument, "warmUpSeconds" | "subtractsTook">;

const NOTHING: LeftOut = { warmUpSeconds: 0, subtractsTook: false };

export function chatting(mode: Mode, connections: number, leftOut: LeftOut = NOTHING) {
  return (
    { origin, path, headers, kind }: Pick<Contender, "origin" | "path" | "headers" | "kind">,
    seconds: number,
  ) => {
    const body = {
      // Patchbay takes the model from the route and refuses a request that names one.
      ...(kind === "gateway" ? {} : { model: "bench" }),
      messages: [
        { role: "system", content: "You are brief." },
        { role: "user", content: PROMPT },
      ],
      max_tokens: 256,
      ...(mode === "stream" ? { stream: true } : {}),
    };
    const load = { origin, path, headers, key: KEY, body: JSON.stringify(body), connections, seconds };
    return runChatLoad({ ...load, ...leftOut });
  };
}

function report(options: ChatBench, data: readonly ChatFigures[], profile: Profiled): Report {
  const gatewayRows = data.filter(({ kind }) => kind === "gateway");
  const met = gatewayRows.every(({ ratio }) => ratio >= TARGET_RATIO);
  return {
    name: "chat",
    rows: data.map((row) => ({
      "": row.name,
      mode: row.mode,
      connections: row.connections,
      "requests/s (median)": row.perSecond,
      ratio: row.ratio,
      "chunks/s": row.mode === "stream" ? Math.round(row.perSecond * CHUNKS_PER_ANSWER) : "",
      n: row.n,
      "p50 ms": row.p50Ms,
      "added p50 ms": row.addedP50Ms,
      "p99 ms": row.p99Ms,
      "longest gap ms": row.longestGapMs ?? "",
      "first byte p50 ms": row.firstP50Ms ?? "",
      "added first ms": row.addedFirstMs,
      "CPU ms/request": row.cpuMs ?? "",
      "PostgreSQL CPU ms/request": row.databaseCpuMs ?? "",
    })),
    notes: [
      `ratios ${gatewayRows.map(({ mode, connections, ratio }) => `${mode} ${connections}: ${ratio}`).join(", ")} (target ${TARGET_RATIO}: ${met ? "met" : "MISSED"}); CPU is user and system time of all threads`,
      `rounds of ${round(options.seconds / 3, 1)} s; a streamed answer is ${CHUNKS_PER_ANSWER} chunks, each a write of its own; a gap is a time in which no answer ended`,
      ...(data.some(({ name }) => name === "Portkey gateway") ? [] : [`no peer: it comes with \`${PEER_INSTALL}\``]),
      profileNote("plain", profile),
    ],
    data: { ...options, results: data, profile },
  };
}

function comparedWith(own: Figures, base: Figures) {
  return {
    // Three decimal places: 0.496 is not 0.5.
    ratio: round(own.perSecond / base.perSecond, 3),
    addedP50Ms: round(own.p50Ms - base.p50Ms, 2),
    addedFirstMs: round((own.firstP50Ms ?? 0) - (base.firstP50Ms ?? 0), 2),
  };
}
