// Composes the daily question of accounts when their models end, which the operator switches on [providers.daily-question].
import type { Logger } from "pino";
import { askDaily } from "../admin/connections/ask-daily.ts";
import type { ConnectionTestServices } from "../admin/connections/test-connection.ts";
import type { Configuration } from "../config/configuration.ts";
import { createPeriodicTask } from "../lib/concurrency/periodic-task.ts";

/** How often a process looks whether an account was asked today. */
const LOOK_MS = 600_000;

export interface ModelEndQuestions {
  /** Asks the accounts that were not asked today, whether or not the operator switched it on. Returns how many. */
  ask(): Promise<number>;
  stop(): Promise<void>;
}

export function openModelEndQuestions(
  { modelLife }: Pick<Configuration, "modelLife">,
  logger: Logger,
  services: ConnectionTestServices,
): ModelEndQuestions {
  const task = modelLife.askProvidersDaily
    ? createPeriodicTask(LOOK_MS, logger, "ask providers when their models end", (signal) => askDaily(services, signal))
    : null;
  return {
    ask: () => askDaily(services, new AbortController().signal),
    stop: async () => task?.stop(),
  };
}
