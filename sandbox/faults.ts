// Fault injection: what the sandbox can be made to do wrong, for which requests and how often.
import { z } from "zod";
import {
  type Alteration,
  DROPPABLE,
  type Droppable,
  type Step,
  STEPS,
  type Wire,
  WIRE_NAMES,
  type WireName,
} from "./wire/wire.ts";

const afterContent = z.int().min(0).optional();

const faultSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("status"),
    status: z.int().min(200).max(599),
    retryAfterSeconds: z.number().min(0).optional(),
    /** Replaces the provider's own error body for that status. */
    body: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal("delay"), ms: z.int().min(0).max(3_600_000) }),
  z.strictObject({ kind: z.literal("reset_before_body") }),
  z.strictObject({ kind: z.literal("reset_after_body") }),
  z.strictObject({ kind: z.literal("cut_reply") }),
  z.strictObject({ kind: z.literal("stall") }),
  z.strictObject({ kind: z.literal("garbage") }),
  z.strictObject({ kind: z.literal("error_body") }),
  z.strictObject({ kind: z.literal("empty") }),
  // Chat: an answer withheld by a content filter, or one of this many bytes.
  z.strictObject({ kind: z.literal("withheld") }),
  z.strictObject({ kind: z.literal("huge"), bytes: z.int().min(1) }),
  // Chat streams, after this many pieces of content (default 1): silence, a reset, the protocol's own error event. Also a clean end without a finish, and a
  // delay before each piece.
  z.strictObject({ kind: z.literal("stall_stream"), afterContent }),
  z.strictObject({ kind: z.literal("cut_stream"), afterContent }),
  z.strictObject({ kind: z.literal("error_event"), afterContent }),
  z.strictObject({ kind: z.literal("no_finish") }),
  z.strictObject({ kind: z.literal("pace"), ms: z.int().min(0).max(60_000) }),
  // Another model answers under the asked name, in protocols whose answers report it.
  z.strictObject({ kind: z.literal("other_model"), name: z.string().min(1) }),
  z.strictObject({ kind: z.literal("drop"), feature: z.enum(DROPPABLE) }),
  z.strictObject({ kind: z.literal("unfinished"), polls: z.int().min(1) }),
  z.strictObject({ kind: z.literal("run_error"), message: z.string().min(1) }),
  z.strictObject({ kind: z.literal("duration"), seconds: z.union([z.number(), z.literal("NaN")]) }),
]);

export const faultRuleSchema = z.strictObject({
  wire: z.enum(WIRE_NAMES).optional(),
  model: z.string().min(1).optional(),
  /** The step of a run. Default: `submit`, the billed one. */
  step: z.enum(STEPS).optional(),
  /** Number of affected requests. Absent: all. */
  times: z.int().min(1).optional(),
  fault: faultSchema,
});

export type Fault = Readonly<z.infer<typeof faultSchema>>;
export interface FaultRule {
  readonly wire?: WireName | undefined;
  readonly model?: string | undefined;
  readonly step?: Step | undefined;
  readonly times?: number | undefined;
  readonly fault: Fault;
}

/** The faults of one request: its alterations, and at most one fault that replaces the answer. */
export interface Trouble {
  readonly alteration: Alteration;
  readonly delayMs: number;
  readonly isCut: boolean;
  readonly stream: StreamTrouble;
  readonly replacement: ReplacingFault | null;
}
export type StreamFault = Extract<Fault, { kind: "stall_stream" | "cut_stream" | "error_event" | "no_finish" }>;
/** Has no effect on an answer that is not streamed. */
export interface StreamTrouble {
  readonly fault: StreamFault | null;
  readonly paceMs: number;
}
export type ReplacingFault = Extract<
  Fault,
  { kind: "status" | "reset_before_body" | "reset_after_body" | "stall" | "garbage" | "error_body" }
>;

export interface FaultBook {
  readonly add: (rule: FaultRule) => void;
  readonly replaceAll: (rules: readonly FaultRule[]) => void;
  readonly list: () => readonly FaultRule[];
  /** `model` is null while unknown: rules for one model then wait. */
  readonly takeEarlyReset: (wire: FaultyWire, model: string | null) => boolean;
  readonly take: (wire: FaultyWire, model: string | null) => Trouble;
  /** Of a model that became known after `take`: the rules that waited for it. */
  readonly takeNamed: (wire: FaultyWire, model: string) => Trouble;
}

type FaultyWire = Pick<Wire, "name" | "step">;

interface Entry {
  readonly rule: FaultRule;
  left: number;
}

export function createFaultBook(): FaultBook {
  let entries: Entry[] = [];

  function matching(wire: FaultyWire, model: string | null): Entry[] {
    return entries.filter(
      ({ rule, left }) =>
        left > 0 &&
        (rule.wire === undefined || rule.wire === wire.name) &&
        (rule.step ?? "submit") === (wire.step ?? "submit") &&
        (rule.model === undefined || rule.model === model),
    );
  }
  function troubleOf(found: readonly Entry[]): Trouble {
    const trouble = {
      drops: new Set<Droppable>(),
      isEmpty: false,
      isWithheld: false,
      hugeBytes: null as number | null,
      duration: null as number | "NaN" | null,
      unfinishedPolls: 0,
      runError: null as string | null,
      otherModel: null as string | null,
      delayMs: 0,
      isCut: false,
      stream: { fault: null as StreamFault | null, paceMs: 0 },
    };
    let replacement: ReplacingFault | null = null;
    for (const entry of found) {
      const { fault } = entry.rule;
      if (isReplacing(fault)) {
        if (replacement !== null) continue;
        replacement = fault;
      } else apply(fault, trouble);
      use(entry);
    }
    const { delayMs, isCut, stream, ...alteration } = trouble;
    return { alteration, delayMs, isCut, stream, replacement };
  }
  function use(entry: Entry): Fault {
    entry.left -= 1;
    if (entry.left <= 0) entries = entries.filter((each) => each !== entry);
    return entry.rule.fault;
  }
  return {
    add: (rule) => {
      entries.push(toEntry(rule));
    },
    replaceAll: (rules) => {
      entries = rules.map(toEntry);
    },
    list: () => entries.map(({ rule, left }) => (rule.times === undefined ? rule : { ...rule, times: left })),
    takeEarlyReset: (wire, model) => {
      const entry = matching(wire, model).find(({ rule }) => rule.fault.kind === "reset_before_body");
      if (entry === undefined) return false;
      use(entry);
      return true;
    },
    take: (wire, model) => troubleOf(matching(wire, model)),
    takeNamed: (wire, model) => troubleOf(matching(wire, model).filter(({ rule }) => rule.model !== undefined)),
  };
}

const toEntry = (rule: FaultRule): Entry => ({
  rule: faultRuleSchema.parse(rule),
  left: rule.times ?? Number.POSITIVE_INFINITY,
});

const REPLACING: ReadonlySet<Fault["kind"]> = new Set<ReplacingFault["kind"]>([
  "status",
  "reset_before_body",
  "reset_after_body",
  "stall",
  "garbage",
  "error_body",
]);

function isReplacing(fault: Fault): fault is ReplacingFault {
  return REPLACING.has(fault.kind);
}

interface Accumulator {
  readonly drops: Set<Droppable>;
  isEmpty: boolean;
  isWithheld: boolean;
  hugeBytes: number | null;
  duration: number | "NaN" | null;
  unfinishedPolls: number;
  runError: string | null;
  otherModel: string | null;
  delayMs: number;
  isCut: boolean;
  readonly stream: { fault: StreamFault | null; paceMs: number };
}

function apply(fault: Exclude<Fault, ReplacingFault>, trouble: Accumulator): void {
  switch (fault.kind) {
    case "delay":
      trouble.delayMs += fault.ms;
      break;
    case "cut_reply":
      trouble.isCut = true;
      break;
    case "empty":
      trouble.isEmpty = true;
      break;
    case "withheld":
      trouble.isWithheld = true;
      break;
    case "huge":
      trouble.hugeBytes = fault.bytes;
      break;
    case "pace":
      trouble.stream.paceMs += fault.ms;
      break;
    case "stall_stream":
    case "cut_stream":
    case "error_event":
    case "no_finish":
      trouble.stream.fault ??= fault;
      break;
    case "drop":
      trouble.drops.add(fault.feature);
      break;
    case "duration":
      trouble.duration = fault.seconds;
      break;
    case "unfinished":
      trouble.unfinishedPolls = fault.polls;
      break;
    case "run_error":
      trouble.runError = fault.message;
      break;
    case "other_model":
      trouble.otherModel = fault.name;
      break;
  }
}
