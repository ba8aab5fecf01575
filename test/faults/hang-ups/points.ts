// The points at which a caller disconnects, for every kind of answer: the provider's behaviour, the request, and the trigger.
import type { FaultRule, SandboxCall } from "../../../sandbox/server.ts";
import { speech } from "../../harness/client.ts";
import type { TestGateway } from "../../harness/gateway.ts";
import { askForChat, askForTranscript, type Caller, converse, type RouteName } from "./setting.ts";

export type Way = "transcription" | "transcription stream" | "chat" | "chat stream" | "live";

export interface Point {
  readonly way: Way;
  readonly name: string;
  readonly faults: readonly FaultRule[];
  /** Resolves when it is time to disconnect. */
  readonly begin: (gateway: TestGateway) => Promise<Caller>;
  /** How the provider observes the end. Default: its connection is closed. */
  readonly isStopped?: (call: SandboxCall) => boolean;
  /** No provider was called: none may be called later, and the usage row must cost nothing. */
  readonly isBeforeCall?: true;
}

const SILENT: FaultRule = { fault: { kind: "stall" } };
const REFUSED = (model: string): FaultRule => ({ model, fault: { kind: "status", status: 503 } });
const isSilent = (call: SandboxCall): boolean => call.outcome === "stalled";
const isOpen = (call: SandboxCall): boolean => call.outcome === 101;

const START = { type: "start", encoding: "pcm_s16le", sample_rate: 16_000 };
const FINISH = { type: "finish" };
const BYTES_PER_SECOND = 32_000;
const spoken = (seconds: number): readonly Uint8Array[] => {
  const samples = Buffer.from(speech()).subarray(44, 44 + seconds * BYTES_PER_SECOND);
  return Array.from({ length: seconds * 10 }, (_, index) => samples.subarray(index * 3_200, (index + 1) * 3_200));
};

function plainAnswer(
  name: string,
  route: RouteName,
  faults: readonly FaultRule[],
  isTime: (call: SandboxCall) => boolean = isSilent,
): Point {
  return {
    way: "transcription",
    name,
    faults,
    begin: async (gateway) => {
      const caller = await askForTranscript(gateway.origin, route, {});
      await gateway.sandbox.waitForCall(isTime);
      return caller;
    },
  };
}

/** `isTime`: a number of text pieces, or a condition on the provider's call. */
type Moment = number | ((call: SandboxCall) => boolean);

async function comes(gateway: TestGateway, caller: Caller, moment: Moment): Promise<Caller> {
  if (typeof moment === "number") await caller.texts(moment);
  else await gateway.sandbox.waitForCall(moment);
  return caller;
}

function streamed(name: string, route: RouteName, faults: readonly FaultRule[], moment: Moment): Point {
  return {
    way: "transcription stream",
    name,
    faults,
    begin: async (gateway) => comes(gateway, await askForTranscript(gateway.origin, route, { stream: "true" }), moment),
  };
}

function chat(
  name: string,
  route: RouteName,
  fields: { readonly stream?: true },
  faults: readonly FaultRule[],
  moment: Moment,
): Point {
  return {
    way: fields.stream === true ? "chat stream" : "chat",
    name,
    faults,
    begin: async (gateway) => comes(gateway, await askForChat(gateway.origin, route, fields), moment),
  };
}

function live(
  name: string,
  faults: readonly FaultRule[],
  frames: readonly (object | Uint8Array)[],
  moment: Moment,
): Point {
  return {
    way: "live",
    name,
    faults,
    begin: async (gateway) => {
      const caller = await converse(gateway.origin, "deepgram");
      caller.say([START, ...frames]);
      return comes(gateway, caller, moment);
    },
  };
}

/** A provider's socket opens with the first audio; money is reserved before. */
async function reserved({ database }: TestGateway): Promise<void> {
  const attempts = () => database.db.selectFrom("attempts").select("id").execute();
  while ((await attempts()).length === 0) await new Promise((resolve) => setImmediate(resolve));
}

const STALLS_AFTER = (afterContent: number): FaultRule => ({ fault: { kind: "stall_stream", afterContent } });
const FLOWS: FaultRule = { fault: { kind: "pace", ms: 25 } };

export const POINTS: readonly Point[] = [
  plainAnswer("the provider has the audio and is silent", "deepgram", [SILENT]),
  plainAnswer("the provider has the form and is silent", "whisper", [SILENT]),
  plainAnswer("the second target is silent, after the first refused", "pair", [REFUSED("nova-3"), SILENT], isSilent),
  plainAnswer("the upload to a polled provider stalls", "polled", [{ step: "upload", ...SILENT }]),
  plainAnswer("the submission to a polled provider stalls", "polled", [SILENT]),
  plainAnswer("a poll stalls", "polled", [{ step: "poll", ...SILENT }]),
  {
    ...plainAnswer(
      "between two polls",
      "polled",
      [{ fault: { kind: "unfinished", polls: 1_000 } }],
      ({ method, outcome }) => method === "GET" && outcome === 200,
    ),
    // No connection is open then: the provider is asked to delete its copy.
    isStopped: ({ method }) => method === "DELETE",
  },
  streamed("a socket, before its first text", "deepgram", [SILENT], isOpen),
  streamed("a socket, after its first text", "deepgram", [STALLS_AFTER(1)], 1),
  streamed("a socket, while the audio is still being said", "samples", [], isOpen),
  streamed("events, before the first", "events", [SILENT], isSilent),
  streamed("events, after the first", "events", [STALLS_AFTER(1)], 1),
  streamed("events, while they flow", "events", [FLOWS], 2),
  chat("the provider is silent", "chat", {}, [SILENT], isSilent),
  chat("the second target is silent, after the first refused", "chat-pair", {}, [REFUSED("gpt-4o"), SILENT], isSilent),
  chat("before the first content", "chat", { stream: true }, [SILENT], isSilent),
  chat("after the first content", "chat", { stream: true }, [STALLS_AFTER(1)], 1),
  chat("while content flows", "chat", { stream: true }, [FLOWS], 2),
  chat("the second target is silent", "chat-pair", { stream: true }, [REFUSED("gpt-4o"), SILENT], isSilent),
  {
    way: "live",
    name: "before any audio",
    faults: [],
    begin: async (gateway) => {
      const caller = await converse(gateway.origin, "deepgram");
      caller.say([START]);
      await reserved(gateway);
      return caller;
    },
    isBeforeCall: true,
  },
  live("while it is spoken, before any text", [SILENT], spoken(1), isOpen),
  live("after the first text", [STALLS_AFTER(1)], spoken(3), 1),
  live("while text flows", [], spoken(6), 2),
  live("after the finish, while the provider is silent", [SILENT], [...spoken(2), FINISH], isOpen),
];
