// The operator's commands, as `main.ts` hands them to the command line.
import type { Operations } from "../cli/operations-commands.ts";
import { apply } from "./apply.ts";
import { auditVerify } from "./audit-verify.ts";
import { backup } from "./backup.ts";
import { down } from "./down.ts";
import { consoleLink } from "./console-link.ts";
import { doctor } from "./doctor.ts";
import type { OpenNetwork } from "./doctor-network.ts";
import { explainRoute } from "./explain-route.ts";
import { migrateStorage } from "./migrate-storage.ts";
import { replacePepper } from "./replace-pepper.ts";
import { restore } from "./restore.ts";
import { rotateSecrets } from "./rotate-secrets.ts";

export function makeOperations(openNetwork: OpenNetwork): Operations {
  return {
    apply,
    console: consoleLink,
    down,
    doctor: (options, terminal) => doctor(options, terminal, openNetwork),
    backup,
    restore,
    migrateStorage,
    auditVerify,
    explainRoute,
    rotateSecrets,
    replacePepper,
  };
}
