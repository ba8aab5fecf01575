// Reports answers of another model than the one that was asked for [alerts.model-substitution]. Observing only remembers the pair: no request waits for it.
import type { WorkspaceId } from "../../contract/ids.ts";
import type { Alert, AlertWorkspace } from "../alert.ts";

export interface Substitution {
  /** Null: a call outside of workspaces. */
  readonly workspaceId: WorkspaceId | null;
  readonly connection: string;
  readonly askedModel: string;
  readonly answeredModel: string;
}

export interface SubstitutionSource {
  readonly observe: (substitution: Substitution) => void;
  readonly read: (
    workspacesOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, AlertWorkspace>>,
  ) => Promise<readonly Alert[]>;
}

/** Of pairs that wait for the next look. */
const MAX_PAIRS = 1_000;
/** The answered name is a provider's text. */
const MAX_MODEL_CHARACTERS = 200;

interface Counted {
  readonly first: Substitution;
  readonly calls: number;
  readonly latestMs: number;
}

export function createSubstitutionSource(nowMs: () => number): SubstitutionSource {
  let pairs = new Map<string, Counted>();
  return {
    observe: (seen) => {
      const cause = causeOf(seen);
      const known = pairs.get(cause);
      if (known === undefined && pairs.size >= MAX_PAIRS) return;
      pairs.set(cause, { first: known?.first ?? seen, calls: (known?.calls ?? 0) + 1, latestMs: nowMs() });
    },
    read: async (workspacesOf) => {
      const seen = pairs;
      pairs = new Map();
      if (seen.size === 0) return [];
      const ids = new Set([...seen.values()].flatMap(({ first }) => first.workspaceId ?? []));
      const workspaces = ids.size === 0 ? new Map<string, AlertWorkspace>() : await workspacesOf([...ids]);
      return [...seen].map(([cause, counted]) => describe(cause, counted, workspaces));
    },
  };
}

/** Once a day per pair, whichever workspace called: the pair is the provider's doing. */
function causeOf({ connection, askedModel, answeredModel }: Substitution): string {
  return `model_substitution/${connection}/${askedModel}/${answeredModel.slice(0, MAX_MODEL_CHARACTERS)}`;
}

function describe(
  cause: string,
  { first, calls, latestMs }: Counted,
  workspaces: ReadonlyMap<string, AlertWorkspace>,
): Alert {
  const { connection, askedModel, workspaceId } = first;
  const answeredModel = first.answeredModel.slice(0, MAX_MODEL_CHARACTERS);
  return {
    event: "model_substitution",
    cause,
    workspace: workspaceId === null ? null : (workspaces.get(workspaceId) ?? null),
    summary: `${connection} answered ${askedModel} with ${answeredModel}.`,
    details: { connection, asked_model: askedModel, answered_model: answeredModel, calls },
    occurredAt: new Date(latestMs),
  };
}
