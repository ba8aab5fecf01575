// Builds the configuration of a test from the parts that matter to it. Lists are maps by id, a target is "connection/model", and the simulated connections
// that routes name are added.
import type { Sandbox } from "../../sandbox/server.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";

type Item<List> = NonNullable<List> extends readonly (infer Each)[] ? Each : never;
type Connection = Item<ConfigurationFile["connections"]>;
type Route = Item<ConfigurationFile["routes"]>;
type Target = Item<Route["targets"]>;
type Purpose = Item<Route["purposes"]>;
type Price = Item<ConfigurationFile["prices"]>;
type Plan = Item<ConfigurationFile["plans"]>;
type Workspace = Item<ConfigurationFile["workspaces"]>;
type App = Item<Workspace["apps"]>;
type Key = Item<App["keys"]>;
type Scopes = readonly Item<Key["scopes"]>[];
type ById<Part> = Readonly<Record<string, Part>>;

/** A kind, or settings. What is not set: `api_key` is `<id>-secret`, and `base_url` the sandbox's for this kind. */
type ConnectionParts = Connection["kind"] | ConnectionSettings;
export type ConnectionSettings = Omit<Connection, "id">;
type PurposeParts = string | Omit<Purpose, "purpose">;
type TargetParts = string | Target;
/** One target or several, or a route with further settings. */
type RouteParts = TargetList | RouteSettings;
type TargetList = string | readonly TargetParts[];
export interface RouteSettings extends Omit<Route, "id" | "targets" | "purposes"> {
  readonly targets: TargetList;
  readonly purposes?: ById<PurposeParts>;
}
/** By secret, or with further settings. */
type KeyParts = string | KeySettings;
interface KeySettings extends Omit<Key, "id" | "scopes" | "purposes"> {
  readonly scopes?: Scopes;
  readonly purposes?: ById<PurposeParts>;
}

/** By "provider/model": USD per hour of audio, USD per million tokens in and out, `free`, or settings. */
type PriceParts = string | readonly [input: string, output: string] | PriceSettings;
type PriceSettings = Omit<Price, "provider" | "model">;

export interface AppParts extends Omit<App, "id" | "route" | "keys" | "purposes"> {
  /** Not set: the route of the same id, otherwise the first one. */
  readonly route?: string;
  readonly purposes?: ById<PurposeParts>;
  /** The secret of the key `<app>-key`. */
  readonly key?: string;
  readonly keys?: ById<KeyParts>;
  /** Of keys that have none of their own. */
  readonly scopes?: Scopes;
}

interface WorkspaceParts extends Omit<Workspace, "id" | "connections" | "routes" | "apps" | "admin_keys"> {
  readonly connections?: ById<ConnectionParts>;
  readonly routes?: ById<RouteParts>;
  readonly apps?: ById<AppParts>;
  /** The secret of the administrator's key `<workspace>-admin`. */
  readonly admin?: string;
}

type Lists = "connections" | "routes" | "prices" | "plans" | "workspaces" | "operator_keys";
export interface ConfigurationParts extends Omit<ConfigurationFile, Lists> {
  readonly connections?: ById<ConnectionParts>;
  readonly routes?: ById<RouteParts>;
  readonly prices?: ById<PriceParts>;
  readonly plans?: ById<Omit<Plan, "id">>;
  readonly workspaces?: ById<WorkspaceParts>;
  /** Of the workspace `acme`. */
  readonly apps?: ById<AppParts>;
  /** The secret of the administrator's key of the workspace `acme`. */
  readonly admin?: string;
  /** The secret of the operator's key `root`. */
  readonly operator?: string;
  /** Of keys for which neither they nor their app have any. */
  readonly scopes?: Scopes;
}

/** Where the simulated providers listen; those without an address are not used. */
type Urls = Partial<Pick<Sandbox, (typeof URL_OF)[keyof typeof URL_OF] | "compatibleUrl">>;
const URL_OF = {
  deepgram: "deepgramUrl",
  openai: "openaiUrl",
  assemblyai: "assemblyaiUrl",
  elevenlabs: "elevenlabsUrl",
  "google-speech": "googleSpeechUrl",
  anthropic: "anthropicUrl",
  gemini: "geminiUrl",
} as const satisfies Partial<Record<Connection["kind"], keyof Sandbox>>;

/**
 * For example two apps in the workspace `acme`, one on each route, with connections to the simulated Deepgram and OpenAI:
 *
 *     configurationWith(sandbox, {
 *       prices: { "deepgram/nova-3": "0.36" },
 *       routes: { speech: ["dg/nova-3", "oa/whisper-1"], chat: "oa/gpt-4o" },
 *       apps: { notes: { key: KEY }, chat: { key: CHAT_KEY, scopes: ["chat"] } },
 *     })
 */
export function configurationWith(sandbox: Urls, parts: ConfigurationParts): ConfigurationFile {
  const {
    connections = {},
    routes = {},
    prices,
    plans,
    workspaces = {},
    apps,
    admin,
    operator,
    scopes,
    ...rest
  } = parts;
  const listedRoutes = listRoutes(routes);
  const acme = { ...workspaces["acme"], ...(apps && { apps }), ...(admin !== undefined && { admin }) };
  const allWorkspaces = apps || admin !== undefined ? { acme, ...omit(workspaces, "acme") } : workspaces;
  return {
    ...rest,
    ...(operator !== undefined && { operator_keys: [{ id: "root", secret: operator }] }),
    ...(plans && { plans: list(plans, (id, plan) => ({ id, ...plan })) }),
    ...(prices && { prices: Object.entries(prices).map(([model, price]) => priceOf(model, price)) }),
    connections: listConnections(sandbox, { ...simulatedConnections(sandbox, listedRoutes), ...connections }),
    routes: listedRoutes,
    workspaces: list(allWorkspaces, (id, workspace) =>
      listWorkspace(id, workspace, { sandbox, routes: Object.keys(routes), scopes }),
    ),
  };
}

/** Adds to `base` by id; an entry of `more` replaces the one of its id. */
export function mergeParts(base: ConfigurationParts, more: ConfigurationParts): ConfigurationParts {
  return {
    ...base,
    ...more,
    connections: { ...base.connections, ...more.connections },
    routes: { ...base.routes, ...more.routes },
    prices: { ...base.prices, ...more.prices },
    plans: { ...base.plans, ...more.plans },
    workspaces: { ...base.workspaces, ...more.workspaces },
    apps: { ...base.apps, ...more.apps },
  };
}

/** `target("dg/nova-3")`: what follows the first slash is the model, which may contain slashes. */
export function target(path: string, settings: Partial<Target> = {}): Target {
  const slash = path.indexOf("/");
  if (slash < 1) throw new Error(`${path} is not "connection/model"`);
  return { connection: path.slice(0, slash), model: path.slice(slash + 1), ...settings };
}

/** A map with a part for each of these ids. */
export function byId<Id extends string, Part>(ids: readonly Id[], make: (id: Id) => Part): Record<string, Part> {
  return Object.fromEntries(ids.map((id) => [id, make(id)]));
}

function list<Part, Listed>(parts: ById<Part>, make: (id: string, part: Part) => Listed): Listed[] {
  return Object.entries(parts).map(([id, part]) => make(id, part));
}

function omit<Part>(parts: ById<Part>, id: string): ById<Part> {
  return Object.fromEntries(Object.entries(parts).filter(([each]) => each !== id));
}

/** Connections of standard names, which a test need not declare. */
function simulatedConnections({ compatibleUrl }: Urls, routes: readonly Route[]): ById<ConnectionParts> {
  const standard: ById<ConnectionParts> = {
    dg: "deepgram",
    oa: "openai",
    aa: "assemblyai",
    el: "elevenlabs",
    sim: "sandbox",
    ...(compatibleUrl && {
      local: {
        kind: "openai-compatible",
        base_url: compatibleUrl("speaches"),
        models: { whisper: { capabilities: ["audio_input"], features: { timestamps: ["segment"] } } },
      },
    }),
  };
  const named = new Set(routes.flatMap(({ targets }) => targets.map(({ connection }) => connection)));
  return Object.fromEntries(Object.entries(standard).filter(([id]) => named.has(id)));
}

function listConnections(sandbox: Urls, connections: ById<ConnectionParts>): Connection[] {
  return list(connections, (id, parts) => {
    const settings = typeof parts === "string" ? { kind: parts } : parts;
    if (settings.kind === "sandbox" || settings.kind === "local") return { id, ...settings };
    return { id, api_key: `${id}-secret`, ...addressOf(sandbox, settings), ...settings };
  });
}

function addressOf(sandbox: Urls, { kind, base_url: own }: ConnectionSettings): Pick<Connection, "base_url"> {
  const name = Object.entries(URL_OF).find(([each]) => each === kind)?.[1];
  const url = own ?? (name === undefined ? undefined : sandbox[name]);
  // Without one it would be the provider's own.
  if (url === undefined || url === null) throw new Error(`the sandbox has no address for ${kind}`);
  return { base_url: url };
}

function listRoutes(routes: ById<RouteParts>): Route[] {
  return list(routes, (id, parts) => {
    if (typeof parts === "string" || isList(parts)) return { id, targets: listTargets(parts) };
    const { targets, purposes, ...rest } = parts;
    return { id, ...rest, targets: listTargets(targets), ...(purposes && { purposes: listPurposes(purposes) }) };
  });
}

const isList = (parts: RouteParts): parts is readonly TargetParts[] => Array.isArray(parts);

function listTargets(targets: TargetList): Target[] {
  const all = typeof targets === "string" ? [targets] : targets;
  return all.map((each) => (typeof each === "string" ? target(each) : each));
}

function listPurposes(purposes: ById<PurposeParts>): Purpose[] {
  return list(purposes, (purpose, parts) => ({ purpose, ...(typeof parts === "string" ? { route: parts } : parts) }));
}

function priceOf(path: string, parts: PriceParts): Price {
  const { connection: provider, model } = target(path);
  const named = { provider: provider as Price["provider"], model };
  return parts === "free"
    ? { ...named, free: true }
    : { ...named, ...figuresOf(parts), source: "test", as_of: "2026-11-01" };
}

function figuresOf(parts: PriceParts): PriceSettings {
  if (typeof parts === "string") return { usd_per_audio_hour: parts };
  if (!isPair(parts)) return parts;
  return { usd_per_million_input_tokens: parts[0], usd_per_million_output_tokens: parts[1] };
}

const isPair = (parts: PriceParts): parts is readonly [string, string] => Array.isArray(parts);

interface Surroundings {
  readonly sandbox: Urls;
  /** Ids, in order. */
  readonly routes: readonly string[];
  readonly scopes: Scopes | undefined;
}

function listWorkspace(
  id: string,
  parts: WorkspaceParts,
  { sandbox, routes: shared, scopes }: Surroundings,
): Workspace {
  const { connections, routes, apps, admin, ...rest } = parts;
  const ids = [...Object.keys(routes ?? {}), ...shared];
  return {
    id,
    ...rest,
    ...(connections && { connections: listConnections(sandbox, connections) }),
    ...(routes && { routes: listRoutes(routes) }),
    ...(apps && { apps: list(apps, (app, each) => listApp(app, each, ids, scopes)) }),
    ...(admin !== undefined && { admin_keys: [{ id: `${id}-admin`, secret: admin }] }),
  };
}

function listApp(id: string, parts: AppParts, routes: readonly string[], common: Scopes | undefined): App {
  const { key, keys = {}, purposes, scopes = common, ...rest } = parts;
  const route = routes.includes(id) ? id : (routes[0] ?? "");
  const named = key === undefined ? keys : { [`${id}-key`]: key, ...keys };
  return {
    id,
    route,
    ...rest,
    ...(purposes && { purposes: listPurposes(purposes) }),
    keys: list(named, (each, keyParts) => {
      const settings: KeySettings = typeof keyParts === "string" ? { secret: keyParts } : keyParts;
      const { scopes: own = scopes, purposes: bound, ...others } = settings;
      return {
        id: each,
        ...others,
        ...(own && { scopes: [...own] }),
        ...(bound && { purposes: listPurposes(bound) }),
      };
    }),
  };
}
