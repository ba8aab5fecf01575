// The API's definition of a route, with defaults filled in.
import type { AppView } from "../contract/admin/apps.ts";
import type { RouteVersionView, RouteView } from "../contract/admin/routes.ts";

export interface Target {
  readonly connection: string;
  readonly model: string;
  /** Empty: all. */
  readonly profiles: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly first_content_timeout_seconds: number;
}

export type Purpose = AppView["purposes"][number];

/** Unknown fields are preserved. */
export interface Definition {
  readonly targets: readonly Target[];
  readonly purposes: readonly Purpose[];
  readonly [field: string]: unknown;
}

/** Every definition from the API was validated by the schema, which adds defaults missing in old versions. */
export const asDefinition = (document: Readonly<Record<string, unknown>>): Definition =>
  document as unknown as Definition;

/** With the schema's defaults. */
export const NEW_ROUTE: Definition = {
  targets: [],
  purposes: [],
  profile_override_allowed: true,
  may_pay_twice: false,
  fallback_after_unknown: true,
  accept_weak: [],
  split_long_audio: false,
  translate_via_chat: false,
  require_exact_model: false,
  data_policy: null,
};

export const NEW_TARGET: Target = {
  connection: "",
  model: "",
  profiles: [],
  settings: {},
  first_content_timeout_seconds: 300,
};

/** A hand-written definition, as far as a form can show it; the gateway validates the rest. */
export function writtenRoute(input: unknown): Definition {
  const fields = (isObject(input) ? input : {}) as Partial<Definition>;
  const targets: readonly unknown[] = Array.isArray(fields.targets) ? fields.targets : [];
  return {
    ...NEW_ROUTE,
    ...fields,
    targets: targets.filter(isObject).map((target) => ({ ...NEW_TARGET, ...target })),
  };
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const nameOf = ({ connection, model }: Pick<Target, "connection" | "model">): string =>
  `${connection}: ${model}`;

/** The live version, or the draft of a route that was never published. */
export function shownOf({ definition, draft }: RouteView): Definition {
  return asDefinition(definition ?? draft?.definition ?? NEW_ROUTE);
}

/** Empty unless it is published. */
export const connectionsServing = ({ definition }: RouteView): readonly string[] =>
  definition === null ? [] : asDefinition(definition).targets.map(({ connection }) => connection);

export const routePath = (id: string): string => `/routes/${encodeURIComponent(id)}`;

/** By tone and word. */
export const VERSION_STATES: Readonly<
  Record<RouteVersionView["state"], readonly [tone: "good" | "warn" | "soft", word: string]>
> = {
  live: ["good", "serves"],
  draft: ["warn", "draft"],
  retired: ["soft", "previously live"],
};

/** Boolean fields of a route, with their effect. */
export const SWITCHES = [
  ["profile_override_allowed", "Requests may select a profile", "With response_profile."],
  [
    "may_pay_twice",
    "Try the next target after an unknown outcome (may be charged twice)",
    "Audio: the provider may have completed and billed the work although its response was lost.",
  ],
  [
    "fallback_after_unknown",
    "Chat: try the next target after an unknown outcome without content",
    "Off: the caller gets an error and decides.",
  ],
  [
    "split_long_audio",
    "Split audio that is too long for a model",
    "It is split at pauses and the transcripts are joined.",
  ],
  ["translate_via_chat", "Translate with a chat target if no audio target can", "Translates the transcript."],
  [
    "require_exact_model",
    "Require the exact model",
    "An answer by another model is withheld and the next target is tried. Dated snapshots are the same model.",
  ],
] as const;
