// Creates the objects of a start without a file: one app, routed to the providers with keys in the environment, then to models on this machine, otherwise to
// the sandbox
// [configuration.default-routes]. Built as a file's data and parsed like one, so that it cannot differ from what a file allows.
import { type Environment, environmentSettings, readVariable } from "./environment-settings.ts";
import { entries, text } from "./raw-data.ts";
import type { ConfigurationFile } from "./schema/file.ts";

type Connection = NonNullable<ConfigurationFile["connections"]>[number];
type Target = { connection: string; model: string };
interface SetUp {
  readonly connections: Connection[];
  readonly routes: NonNullable<ConfigurationFile["routes"]>;
}

export interface DefaultFile {
  readonly data: ConfigurationFile;
  readonly notes: readonly string[];
  /** Source of each value, for faults: formatted path prefix → name of the variable. */
  readonly origins: ReadonlyMap<string, string>;
}

export interface Bootstrap {
  /** Sections that replace those of the file. */
  readonly data: Pick<ConfigurationFile, "connections" | "routes" | "workspaces">;
  readonly notes: readonly string[];
}

/** A provider account that a variable connects, and the models for requests in this order. */
interface Account {
  readonly variable: string;
  readonly property: "api_key" | "base_url";
  readonly connection: Connection;
  readonly speech: readonly string[];
  readonly chat: readonly string[];
}

/** The first stays. Those behind it do what it lacks (speakers, times, translation) until the provider ends them on 2027-02-26. */
const OPENAI_SPEECH = ["gpt-transcribe", "gpt-4o-transcribe-diarize", "whisper-1"];

const ACCOUNTS: readonly Account[] = [
  accountOf("DEEPGRAM_API_KEY", "deepgram", ["nova-3"], []),
  // The newest model does not fall back by itself for languages that it lacks.
  accountOf("ASSEMBLYAI_API_KEY", "assemblyai", ["assemblyai-stt-3-7", "universal-2"], []),
  accountOf("ELEVENLABS_API_KEY", "elevenlabs", ["scribe_v2"], []),
  accountOf("OPENAI_API_KEY", "openai", OPENAI_SPEECH, ["gpt-6-luna"]),
  // The general model is last: it alone translates into any language, but it is instructed by a prompt.
  accountOf("GEMINI_API_KEY", "gemini", ["gemini-3.5-transcribe", "gemini-3.8-flash"], ["gemini-3.8-flash"]),
  accountOf("ANTHROPIC_API_KEY", "anthropic", [], ["claude-haiku-5-5"]),
  {
    variable: "PATCHBAY_LOCAL_STT_URL",
    property: "base_url",
    connection: {
      id: "local",
      kind: "openai-compatible",
      // Only timestamps are assumed: a server that returns none fails the check of its response instead of passing off plain text.
      models: { "whisper-1": { capabilities: ["audio_input"], features: { timestamps: ["segment"] } } },
    },
    speech: ["whisper-1"],
    chat: [],
  },
];

function accountOf(
  variable: string,
  kind: Exclude<Connection["kind"], "openai-compatible">,
  speech: readonly string[],
  chat: readonly string[],
): Account {
  return { variable, property: "api_key", connection: { id: kind, kind }, speech, chat };
}

/** The models on this machine that a start routes to where no route is configured. */
export interface LocalSpeech {
  /** Installed recognisers, in the order in which they are tried. */
  readonly installed: readonly string[];
  /** While none is installed, tried before the sandbox: a model that serves as soon as it is pulled, and one for the bundled sample alone. */
  readonly standIns: readonly string[];
  /** Printed while none is installed: what the sandbox answers, and the command that changes it. */
  readonly note: string;
}

/** Nothing on this machine is known. */
export const NO_LOCAL_SPEECH: LocalSpeech = {
  installed: [],
  standIns: [],
  note: "The sandbox answers audio requests with simulated text.",
};

/** The connection of these models, unless a file declares one. */
const LOCAL_CONNECTION: Connection = { id: "here", kind: "local" };

/** Returns the whole configuration of a start without a file. */
export function defaultFile(env: Environment, local: LocalSpeech): DefaultFile {
  const settings = environmentSettings(env);
  const connected = ACCOUNTS.flatMap((each) => {
    const value = readVariable(env, each.variable);
    return value === null ? [] : [{ ...each, connection: { ...each.connection, [each.property]: value } }];
  });
  const origins = new Map(settings.origins);
  for (const [at, { variable, property }] of connected.entries())
    origins.set(`connections[${at}].${property}`, variable);
  const { setUp, notes } = setUpOf(connected, { ...local, connection: LOCAL_CONNECTION });
  return { data: { ...settings.data, ...setUp, workspaces: ownerOf(setUp.routes) }, notes, origins };
}

/** Returns what a start adds if neither file nor database has a workspace. Null: the file has its own. */
export function bootstrapOf(file: unknown, env: Environment, local: LocalSpeech): Bootstrap | null {
  if (entries(file, ["workspaces"]).length > 0) return null;
  const routes = entries(file, ["routes"]).flatMap(({ value }) => {
    const id = text(value, "id");
    return id === undefined ? [] : [{ id }];
  });
  if (routes.length > 0) return { data: { workspaces: ownerOf(routes) }, notes: [] };
  const declared = entries(file, ["connections"]).map(({ value }) => value as Connection);
  if (declared.length === 0) {
    const { data, notes } = defaultFile(env, local);
    return { data: { connections: data.connections, routes: data.routes, workspaces: data.workspaces }, notes };
  }
  const connected = declared.flatMap((connection) =>
    ACCOUNTS.filter(({ property, connection: { kind } }) => property === "api_key" && kind === connection.kind).map(
      (each) => ({ ...each, connection }),
    ),
  );
  const { setUp, notes } = setUpOf(connected, localAmong(declared, local));
  const added = setUp.connections.filter(({ id }) => !declared.some((each) => each.id === id));
  const connections = [...declared, ...added];
  return { data: { connections, routes: setUp.routes, workspaces: ownerOf(setUp.routes) }, notes };
}

/** The file's own connection to this machine is used, and its name for another kind of connection is not taken. */
function localAmong(declared: readonly Connection[], local: LocalSpeech): LocalTargets {
  const own = declared.find(({ kind }) => kind === LOCAL_CONNECTION.kind);
  const isTaken = own === undefined && declared.some(({ id }) => id === LOCAL_CONNECTION.id);
  return { ...(isTaken ? NO_LOCAL_SPEECH : local), connection: own ?? LOCAL_CONNECTION };
}

interface LocalTargets extends LocalSpeech {
  readonly connection: Connection;
}

function setUpOf(
  connected: readonly Account[],
  local: LocalTargets,
): { readonly setUp: SetUp; readonly notes: readonly string[] } {
  const targetsFor = (task: "speech" | "chat"): Target[] =>
    connected.flatMap((each) => each[task].map((model) => ({ connection: each.connection.id, model })));
  const connections = connected.map(({ connection }) => connection);
  const [speech, chat] = [targetsFor("speech"), targetsFor("chat")];
  const notes: string[] = [];
  const hasNoProvider = speech.length === 0;
  const isSimulated = hasNoProvider && local.installed.length === 0;
  const localModels = isSimulated ? local.standIns : local.installed;
  if (localModels.length > 0) connections.push(local.connection);
  // Behind the providers: they are better, and their keys were set on purpose.
  speech.push(...localModels.map((model) => ({ connection: local.connection.id, model })));
  if (hasNoProvider && !isSimulated)
    notes.push(
      `No speech provider is connected. Speech is recognised on this machine, by ${local.installed.join(", ")}.`,
    );
  if (isSimulated) {
    connections.push({ id: "sandbox", kind: "sandbox" });
    speech.push(
      { connection: "sandbox", model: "simulated-speech" },
      { connection: "sandbox", model: "openai/gpt-4o-transcribe-diarize" },
      // The other sandbox models cannot translate.
      { connection: "sandbox", model: "openai/whisper-1" },
    );
    notes.push(`No speech provider is connected. ${local.note}`);
  }
  if (connected.length === 0) {
    if (!connections.some(({ id }) => id === "sandbox")) connections.push({ id: "sandbox", kind: "sandbox" });
    chat.push({ connection: "sandbox", model: "simulated-chat" });
    notes.push("No chat provider is connected. The sandbox answers chats with simulated text.");
  }
  const routes = [{ id: "speech", targets: speech }, ...(chat.length > 0 ? [{ id: "chat", targets: chat }] : [])];
  return { setUp: { connections, routes }, notes };
}

/** The owner's workspace and app, without keys, which the start creates. Audio uses `speech` if another route serves the chats. */
function ownerOf(routes: readonly { readonly id: string }[]): NonNullable<ConfigurationFile["workspaces"]> {
  const hasRoute = (id: string) => routes.some((each) => each.id === id);
  const route = hasRoute("chat") ? "chat" : hasRoute("speech") ? "speech" : (routes[0]?.id ?? "speech");
  const audio = route !== "speech" && hasRoute("speech") ? "speech" : null;
  return [{ id: "owner", apps: [{ id: "default", route, audio_input_override: audio }] }];
}
