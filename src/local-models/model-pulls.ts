// The pulls that a gateway's administrators started, with their progress [local-models.admin-pull]. One at a time a model; each ends with the process.
import type { LocalModelPull } from "../contract/admin/local-models.ts";
import { ModelFault } from "./model-fault.ts";
import type { ModelSpec } from "./model-spec.ts";
import { pullModel, type PullParts } from "./pull-model.ts";

export interface ModelPulls {
  /** Starts a pull unless one is running. */
  readonly start: (spec: ModelSpec) => LocalModelPull;
  /** The running pull, or the last one that failed. Null: none. */
  readonly stateOf: (name: string) => LocalModelPull | null;
  /** Stops a running pull and waits for its end. What was downloaded is kept. */
  readonly cancel: (name: string) => Promise<void>;
  /** Stops all and waits for them. */
  readonly close: () => Promise<void>;
}

export interface ModelPullsParts {
  readonly pull: PullParts;
  readonly onEnd: (spec: ModelSpec, error: unknown) => void;
}

interface Running {
  state: LocalModelPull;
  readonly controller: AbortController;
  ended: Promise<void>;
}

export function createModelPulls({ pull, onEnd }: ModelPullsParts): ModelPulls {
  const { now = () => new Date() } = pull;
  const running = new Map<string, Running>();
  const failed = new Map<string, LocalModelPull>();

  async function run(entry: Running, spec: ModelSpec): Promise<void> {
    const { signal } = entry.controller;
    try {
      await pullModel(spec, pull, {
        signal,
        onProgress: ({ phase, bytes, totalBytes }) => {
          entry.state = { ...entry.state, phase, bytes, total_bytes: totalBytes };
        },
      });
      running.delete(spec.name);
      onEnd(spec, null);
    } catch (error) {
      running.delete(spec.name);
      const message = error instanceof ModelFault ? error.message : "An unexpected error; see the log.";
      const outcome = signal.aborted ? { state: "cancelled" as const } : { state: "failed" as const, error: message };
      failed.set(spec.name, { ...entry.state, ...outcome });
      onEnd(spec, signal.aborted ? null : error);
    }
  }

  return {
    start: (spec) => {
      const present = running.get(spec.name);
      if (present !== undefined) return present.state;
      failed.delete(spec.name);
      const started_at = now().toISOString();
      const entry: Running = {
        state: { state: "running", phase: "waiting", bytes: 0, total_bytes: 0, started_at, error: null },
        controller: new AbortController(),
        ended: Promise.resolve(),
      };
      running.set(spec.name, entry);
      entry.ended = run(entry, spec);
      return entry.state;
    },
    stateOf: (name) => running.get(name)?.state ?? failed.get(name) ?? null,
    cancel: async (name) => {
      const entry = running.get(name);
      entry?.controller.abort();
      await entry?.ended;
    },
    close: async () => {
      for (const { controller } of running.values()) controller.abort();
      await Promise.allSettled([...running.values()].map(({ ended }) => ended));
    },
  };
}
