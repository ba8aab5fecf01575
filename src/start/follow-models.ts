// Derives the routes of a start without a file again when a model is installed or removed while the gateway runs, so that it serves or leaves without a restart
// [configuration.default-local].
import type { App } from "../compose/app.ts";
import { applyConfiguration } from "../directory/apply-configuration.ts";
import { createPeriodicTask, type PeriodicTask } from "../lib/concurrency/periodic-task.ts";
import { installedRecognisers } from "./local-speech.ts";
import type { PreparedProcess } from "./prepare.ts";

/** Each look asks for a handful of names in the models' directory. */
const LOOK_MS = 2_000;

type Followed = Pick<PreparedProcess, "configuration" | "derived" | "database" | "seal" | "pepper" | "logger">;

/** Must be stopped before the database is closed. Null: the routes are those of a file. */
export function followModels(
  { configuration, derived, database, seal, pepper, logger }: Followed,
  { refreshDirectory }: Pick<App, "refreshDirectory">,
): PeriodicTask | null {
  if (derived === null) return null;
  const { dir } = configuration.models;
  let routed = derived.models.join(" ");
  return createPeriodicTask(LOOK_MS, logger, "follow the installed models", async () => {
    const present = installedRecognisers(dir).join(" ");
    if (present === routed) return;
    const loaded = derived.again();
    if (!loaded.ok) return;
    await applyConfiguration({ database, seal, pepper }, loaded.configuration, { isFile: false });
    routed = present;
    logger.info({ model: present, event: "local.routes_derived" });
    await refreshDirectory();
  });
}
