// The configuration when there is no file: one app routed to whatever provider keys stand in the environment, else to the
// sandbox (contract 10). Built as a file's data and parsed like one, so nothing here can differ from what a file could say.
import type { ConfigurationFile } from "./schema/file.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Connection = NonNullable<ConfigurationFile["connections"]>[number];
type Target = { connection: string; model: string };

export interface DefaultFile {
  readonly data: ConfigurationFile;
  readonly notes: readonly string[];
  /** Where each value came from, for faults: formatted path prefix → name of the variable. */
  readonly origins: ReadonlyMap<string, string>;
}

export function defaultFile(env: Environment): DefaultFile {
  const connections: Connection[] = [];
  const speech: Target[] = [];
  const chat: Target[] = [];
  const origins = new Map<string, string>();
  const connect = (variable: string, property: "api_key" | "base_url", connection: Connection) => {
    origins.set(`connections[${connections.length}].${property}`, variable);
    connections.push(connection);
  };

  const deepgram = given(env, "DEEPGRAM_API_KEY");
  if (deepgram !== null) {
    connect("DEEPGRAM_API_KEY", "api_key", { id: "deepgram", kind: "deepgram", api_key: deepgram });
    speech.push({ connection: "deepgram", model: "nova-3" });
  }
  const assemblyai = given(env, "ASSEMBLYAI_API_KEY");
  if (assemblyai !== null) {
    connect("ASSEMBLYAI_API_KEY", "api_key", { id: "assemblyai", kind: "assemblyai", api_key: assemblyai });
    speech.push(
      { connection: "assemblyai", model: "universal-3-pro" },
      { connection: "assemblyai", model: "universal-2" },
    );
  }
  const elevenlabs = given(env, "ELEVENLABS_API_KEY");
  if (elevenlabs !== null) {
    connect("ELEVENLABS_API_KEY", "api_key", { id: "elevenlabs", kind: "elevenlabs", api_key: elevenlabs });
    speech.push({ connection: "elevenlabs", model: "scribe_v2" });
  }
  const openai = given(env, "OPENAI_API_KEY");
  if (openai !== null) {
    connect("OPENAI_API_KEY", "api_key", { id: "openai", kind: "openai", api_key: openai });
    speech.push(
      { connection: "openai", model: "gpt-4o-transcribe-diarize" },
      { connection: "openai", model: "whisper-1" },
    );
    chat.push({ connection: "openai", model: "gpt-4o-mini" });
  }
  const gemini = given(env, "GEMINI_API_KEY");
  if (gemini !== null) {
    connect("GEMINI_API_KEY", "api_key", { id: "gemini", kind: "gemini", api_key: gemini });
    // A general model last: it alone translates into any language, and it alone is asked in words.
    speech.push(
      { connection: "gemini", model: "gemini-3.5-transcribe" },
      { connection: "gemini", model: "gemini-2.5-flash" },
    );
    chat.push({ connection: "gemini", model: "gemini-3.5-flash" });
  }
  const anthropic = given(env, "ANTHROPIC_API_KEY");
  if (anthropic !== null) {
    connect("ANTHROPIC_API_KEY", "api_key", { id: "anthropic", kind: "anthropic", api_key: anthropic });
    chat.push({ connection: "anthropic", model: "claude-haiku-4-5" });
  }
  const local = given(env, "PATCHBAY_LOCAL_STT_URL");
  if (local !== null) {
    // Only times are assumed: a server that cannot give them fails its receipt instead of passing off plain text.
    const whisper = { capabilities: ["audio_input" as const], features: { timestamps: ["segment" as const] } };
    connect("PATCHBAY_LOCAL_STT_URL", "base_url", {
      id: "local",
      kind: "openai-compatible",
      base_url: local,
      models: { "whisper-1": whisper },
    });
    speech.push({ connection: "local", model: "whisper-1" });
  }
  const notes: string[] = [];
  const isNothingConnected = connections.length === 0;
  if (speech.length === 0) {
    connections.push({ id: "sandbox", kind: "sandbox" });
    speech.push(
      { connection: "sandbox", model: "simulated-speech" },
      { connection: "sandbox", model: "openai/gpt-4o-transcribe-diarize" },
      // The others cannot translate.
      { connection: "sandbox", model: "openai/whisper-1" },
    );
    notes.push(
      "No speech provider is connected. Requests go to the sandbox: it measures your audio and returns prepared text. Nothing is recognised.",
    );
  }
  if (isNothingConnected) {
    chat.push({ connection: "sandbox", model: "simulated-chat" });
    notes.push("No chat provider is connected. Chats go to the sandbox: it counts your words. Nothing is understood.");
  }
  return { data: assemble(env, connections, speech, chat, origins), notes, origins };
}

function assemble(
  env: Environment,
  connections: Connection[],
  speech: Target[],
  chat: Target[],
  origins: Map<string, string>,
): ConfigurationFile {
  origins.set("storage.database_url", "DATABASE_URL");
  origins.set("secrets.key_pepper", "PATCHBAY_KEY_PEPPER");
  origins.set("secrets.encryption_keys", "PATCHBAY_ENCRYPTION_KEY");
  const hasChat = chat.length > 0;
  return {
    storage: { database_url: given(env, "DATABASE_URL") },
    secrets: {
      key_pepper: given(env, "PATCHBAY_KEY_PEPPER"),
      encryption_keys: [given(env, "PATCHBAY_ENCRYPTION_KEY") ?? ""],
    },
    connections,
    routes: [{ id: "speech", targets: speech }, ...(hasChat ? [{ id: "chat", targets: chat }] : [])],
    workspaces: [
      {
        id: "owner",
        apps: [{ id: "default", route: hasChat ? "chat" : "speech", audio_input_override: hasChat ? "speech" : null }],
      },
    ],
  };
}

function given(env: Environment, name: string): string | null {
  const value = env[name]?.trim();
  return value === undefined || value === "" ? null : value;
}
