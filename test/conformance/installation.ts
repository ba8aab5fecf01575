// A gateway with something of everything, and what is known to exist in it: ids are added as answers name them.
import * as fc from "fast-check";
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { ConnectFailure } from "../../src/outbound/dial.ts";
import { sandboxConnections, startGateway, type TestGateway } from "../harness/gateway.ts";
import { wav } from "../sandbox/wav.ts";
import type { Hints } from "./arbitrary-of.ts";
import { type Operation, operationsOf } from "./document.ts";

export const OPERATOR_KEY = "test-key-of-the-operator-0000001";
export const ADMIN_KEY = "test-key-of-the-administrator-01";
export const APP_KEY = "test-key-of-an-app-that-does-all";
/** Of an app, with a scope that no endpoint asks for. */
export const POOR_KEY = "test-key-that-may-do-nothing-001";

function file(sandbox: Sandbox): ConfigurationFile {
  return {
    connections: sandboxConnections(sandbox),
    operator_keys: [{ id: "root", secret: OPERATOR_KEY }],
    plans: [{ id: "free", monthly_chat_tokens: 1_000_000, credits_usd: "5" }],
    routes: [
      {
        id: "everything",
        targets: [
          { connection: "dg", model: "nova-3" },
          { connection: "oa", model: "whisper-1" },
          { connection: "oa", model: "gpt-4o-mini" },
        ],
        translate_via_chat: true,
        purposes: [{ purpose: "meetings", route: "everything" }],
      },
    ],
    workspaces: [
      {
        id: "acme",
        admin_keys: [{ id: "acme-admin", secret: ADMIN_KEY }],
        audio_url_domains: ["media.example.com"],
        apps: [
          {
            id: "notes",
            route: "everything",
            keys: [
              { id: "all", secret: APP_KEY, scopes: ["transcribe", "chat", "jobs", "routing:read"] },
              { id: "poor", secret: POOR_KEY, scopes: ["routing:read"] },
            ],
          },
        ],
      },
    ],
  };
}

/** Names resolve, and no host answers. */
export function startInstallation(): Promise<TestGateway> {
  return startGateway({
    file,
    network: { resolve: async () => ["93.184.216.34"], connect: () => Promise.reject(new ConnectFailure("connect")) },
  });
}

/** Names that exist, by the path of the collection they are in; one tree for both listeners. */
export type Known = Map<string, string[]>;

export function knownAtFirst(): Known {
  return new Map([
    ["/workspace", ["acme"]],
    ["/admin/v1/workspaces", ["acme"]],
    ["/workspace/acme/apps", ["notes"]],
    ["/admin/v1/plans", ["free"]],
    ["/admin/v1/routes", ["everything"]],
    ["/admin/v1/connections", ["dg", "oa", "local"]],
  ]);
}

/** No workspace has listed anything there. */
const USUAL: Readonly<Record<string, readonly string[]>> = {
  period: ["day", "month", "total"],
  version: ["1"],
  label: ["meetings"],
};
const MOST_KNOWN = 12;
/** Paths of the document that have something below them by its name. */
const COLLECTIONS: ReadonlySet<string> = new Set(
  [...operationsOf("public"), ...operationsOf("admin")].flatMap(({ listener, path }) =>
    path.endsWith("}") || path.includes("}/")
      ? path
          .split("/")
          .flatMap((step, at, steps) => (step.startsWith("{") ? [`${listener} ${steps.slice(0, at).join("/")}`] : []))
      : [],
  ),
);

const collectionOf = (path: string): string => path.replace(/^\/admin\/v1\/workspaces\//u, "/workspace/");

/** Learns names from a good answer: of a list's items, or of the one object that was made. */
export function learn(known: Known, { listener, path, method }: Operation, target: string, json: unknown): void {
  if (method === "DELETE" || !COLLECTIONS.has(`${listener} ${path}`) || typeof json !== "object" || json === null)
    return;
  const [collection = ""] = target.split("?");
  const items = "data" in json && Array.isArray(json.data) ? (json.data as unknown[]) : [json];
  for (const item of items) {
    const { slug, id, job_id: job } = item as Readonly<Record<string, unknown>>;
    const name = slug ?? id ?? job;
    if (typeof name === "string" && !name.includes("/")) note(known, collection, name);
  }
}

export function note(known: Known, collection: string, name: string): void {
  const at = collectionOf(collection);
  const names = known.get(at) ?? [];
  if (!names.includes(name)) names.push(name);
  // The first ones are the file's own; of the others the latest are the likeliest to be there still.
  if (names.length > MOST_KNOWN) names.splice(3, names.length - MOST_KNOWN);
  known.set(at, names);
}

/** A path of the document with names that exist, chosen by a number each; a text is used as it is. */
export function pathOf(known: Known, template: string, choices: readonly (number | string)[]): string {
  let at = 0;
  const steps: string[] = [];
  for (const step of template.split("/")) {
    if (!step.startsWith("{")) {
      steps.push(step);
      continue;
    }
    const choice = choices[at] ?? 0;
    at += 1;
    const names = known.get(collectionOf(steps.join("/"))) ?? USUAL[step.slice(1, -1)] ?? [];
    steps.push(typeof choice === "string" ? choice : (names[choice % Math.max(1, names.length)] ?? "never-created"));
  }
  return steps.join("/");
}

const SECOND_OF_SOUND = wav(1);
export const RECORDING: Uint8Array = SECOND_OF_SOUND;
const BASE64 = SECOND_OF_SOUND.toString("base64");
const NOW_MS = Date.now();
const DAY_MS = 86_400_000;
const date = (days: number) => new Date(NOW_MS + days * DAY_MS).toISOString();

/** By the name of the property. */
export function hintsFor(known: Known): Hints {
  const one = (collection: string) =>
    fc.nat().map((at) => pathOf(known, `${collection}/{name}`, [at]).split("/").at(-1));
  const nothing = fc.constant([]);
  return {
    route: fc.constant("everything"),
    app: one("/workspace/acme/apps"),
    plan: fc.constantFrom("free", null),
    connection: fc.constant("dg"),
    targets: fc.constant([{ connection: "dg", model: "nova-3" }]),
    purposes: nothing,
    audio_input_override: fc.constant(null),
    // Of an account that may be tried: a name that never resolves.
    base_url: fc.constant("https://api.example.invalid/v1"),
    api_key: fc.constant("a-secret-of-a-provider"),
    models: fc.constant({}),
    kind: fc.constant("deepgram"),
    file: fc.constant(null),
    url: fc.constant("https://media.example.com/a.wav"),
    domains: fc.constant(["media.example.com"]),
    "domains[]": fc.constant("*.cdn.example.com"),
    audio: fc.constantFrom({ base64: BASE64 }, { data: BASE64 }, BASE64),
    messages: fc.constant([{ role: "user", content: "Say hello." }]),
    tools: fc.constant([{ type: "function", function: { name: "look_up", parameters: { type: "object" } } }]),
    tool_choice: fc.constant("auto"),
    model: fc.constantFrom("auto", "purpose/meetings"),
    purpose: fc.constant("meetings"),
    language: fc.constant("en"),
    expires_at: fc.constantFrom(null, date(30)),
    from: fc.constantFrom(date(-3).slice(0, 10), date(-3)),
    to: fc.constantFrom(date(1).slice(0, 10), date(1)),
    role: fc.constant("member"),
    limit_usd: fc.constant("10"),
    group_by: fc.constant("app"),
    // Or the run waits for as long as it says.
    wait: fc.constantFrom("0", "1"),
    workspace: one("/admin/v1/workspaces"),
    version: fc.constantFrom(null, 1),
    amount_usd: fc.constant("1.50"),
  };
}
