// The pulls that a gateway's administrators started, with their progress [local-models.admin-pull]. One at a time a model; each ends with the process.
import type { LocalModelPull } from "../contract/admin/local-models.ts";
import { ModelFault } from "./model-fault.ts";
import type { ModelSpec } from "./model-spec.ts";
import { pullModel, type PullParts } from "./pull-model.ts";

export interface ModelPulls {
  /** Starts a pull unless one is running. */
  start(spec: ModelSpec): LocalModelPull;
  /** The running pull, or the last one that failed. Null: none. */
  stateOf(name: string): LocalModelPull | null;
  /** Stops a running pull. What was downloaded is kept. */
  cancel(name: string): boolean;
  /** Stops all and waits for them. */
  close(): Promise<void>;
}

export interface ModelPullsParts {
  readonly pull: PullParts;
  readonly onEnd: (spec: ModelSpec, error: unknown) => void;
}

interface Running {
  state: LocalModelPull;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

export function createModelPulls({ pull, onEnd }: ModelPullsParts): ModelPulls {
  const { now = () => new Date() } = pull;
  const running = new Map<string, Running>();
  const failed = new Map<string, LocalModelPull>();

  function begin(spec: ModelSpec): Running {
    const controller = new AbortController();
    const started_at = now().toISOString();
    const entry: Running = {
      state: { state: "running", phase: "waiting", bytes: 0, total_bytes: 0, started_at, error: null },
      controller,
      ended: pullModel(spec, pull, {
        signal: controller.signal,
        onProgress: ({ phase, bytes, totalBytes }) => {
          entry.state = { ...entry.state, phase, bytes, total_bytes: totalBytes };
        },
      }).then(
        () => onEnd(spec, null),
        (error: unknown) => {
          const message = error instanceof ModelFault ? error.message : "An unexpected error; see the log.";
          const isCancelled = controller.signal.aborted;
          failed.set(spec.name, {
            ...entry.state,
            state: isCancelled ? "cancelled" : "failed",
            error: isCancelled ? null : message,
          });
          onEnd(spec, isCancelled ? null : error);
        },
      ),
    };
    return entry;
  }

  return {
    start: (spec) => {
      const present = running.get(spec.name);
      if (present !== undefined) return present.state;
      failed.delete(spec.name);
      const entry = begin(spec);
      running.set(spec.name, entry);
      void entry.ended.finally(() => running.delete(spec.name));
      return entry.state;
    },
    stateOf: (name) => running.get(name)?.state ?? failed.get(name) ?? null,
    cancel: (name) => {
      const entry = running.get(name);
      entry?.controller.abort();
      return entry !== undefined;
    },
    close: async () => {
      for (const { controller } of running.values()) controller.abort();
      await Promise.allSettled([...running.values()].map(({ ended }) => ended));
    },
  };
}
